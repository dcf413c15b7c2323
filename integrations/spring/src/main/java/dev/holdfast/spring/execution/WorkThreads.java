package dev.holdfast.spring.execution;

import java.lang.reflect.Field;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.aot.hint.ReflectionHints;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.NoUniqueBeanDefinitionException;
import org.springframework.core.task.SimpleAsyncTaskExecutor;
import org.springframework.core.task.TaskDecorator;
import org.springframework.core.task.TaskExecutor;
import org.springframework.scheduling.TaskScheduler;
import org.springframework.scheduling.concurrent.ThreadPoolTaskExecutor;
import org.springframework.util.ReflectionUtils;

/*
 * The work may block, so it must not run on the client's threads, which deliver grants and time-outs. It has its lock
 * already when it comes to the executor: a wait for the lock occupies no thread. But then it must not wait in a queue
 * for ever, and with a bounded executor it would, if all of its threads wait for such work. So work that was not begun
 * in time gets a thread of its own.
 */

/**
 * Where asynchronous work under locks is called: on the application's executor, with the context of the thread that
 * made the call. Thread-safe.
 */
public final class WorkThreads {

    private static final Logger LOG = LoggerFactory.getLogger(WorkThreads.class);

    /** The executor of Spring Boot. */
    private static final String APPLICATION_EXECUTOR = "applicationTaskExecutor";

    /** The executor of Spring for asynchronous methods, if there are several. */
    private static final String TASK_EXECUTOR = "taskExecutor";

    /** After which time in the queue of an executor work gets a thread of its own. */
    private static final long PATIENCE_MILLIS = 1_000;

    /** A new thread for each task; keeps none. */
    private static final Executor NEW_THREADS = new SimpleAsyncTaskExecutor("holdfast-work-");

    private final Executor executor;
    private final List<TaskDecorator> decorators;
    private final AtomicBoolean hasWarned = new AtomicBoolean();

    private WorkThreads(Executor executor, List<TaskDecorator> decorators) {
        this.executor = executor;
        this.decorators = decorators;
    }

    /** A thread of its own for each call, which sees nothing of the caller's context. */
    public static WorkThreads newThreads() {
        return new WorkThreads(NEW_THREADS, List.of());
    }

    /** The threads of an executor. If that decorates tasks, each call is decorated on the thread that makes it. */
    public static WorkThreads of(Executor executor) {
        TaskDecorator own = decorator(executor);
        return new WorkThreads(executor, own == null ? List.of() : List.of(own));
    }

    /**
     * The threads of the application's executor, as Spring finds it for asynchronous methods: Spring Boot's, the only
     * one there is, or the one named {@value #TASK_EXECUTOR}. New threads if there is none.
     */
    public static WorkThreads of(BeanFactory beans) {
        Executor executor = find(beans);
        TaskDecorator own = decorator(executor);
        return new WorkThreads(
                executor,
                own == null
                        ? beans.getBeanProvider(TaskDecorator.class)
                                .orderedStream()
                                .toList()
                        : List.of(own));
    }

    private static Executor find(BeanFactory beans) {
        if (beans.containsBean(APPLICATION_EXECUTOR)) {
            return beans.getBean(APPLICATION_EXECUTOR, Executor.class);
        }
        TaskExecutor only;
        try {
            only = beans.getBeanProvider(TaskExecutor.class).getIfAvailable();
        } catch (NoUniqueBeanDefinitionException e) {
            only = null;
        }
        if (only != null && !(only instanceof TaskScheduler)) {
            return only;
        }
        return beans.containsBean(TASK_EXECUTOR) ? beans.getBean(TASK_EXECUTOR, Executor.class) : NEW_THREADS;
    }

    /** The decorator of an executor of Spring's, which has no accessor. */
    private static @Nullable TaskDecorator decorator(Executor executor) {
        try {
            Field field = field(executor.getClass());
            if (field == null) {
                return null;
            }
            ReflectionUtils.makeAccessible(field);
            return (TaskDecorator) ReflectionUtils.getField(field, executor);
        } catch (RuntimeException e) {
            LOG.debug("The decorator of {} can't be read", executor, e);
            return null;
        }
    }

    private static @Nullable Field field(Class<?> executor) {
        return ReflectionUtils.findField(executor, "taskDecorator", TaskDecorator.class);
    }

    /** Registers for native images what is read of Spring's executors. */
    public static void registerHints(ReflectionHints hints) {
        Stream.of(ThreadPoolTaskExecutor.class, SimpleAsyncTaskExecutor.class)
                .map(WorkThreads::field)
                .filter(Objects::nonNull)
                .forEach(hints::registerField);
    }

    /**
     * An executor for one task, with the context that the calling thread has now.
     *
     * @return an executor that may reject the task
     */
    public Executor forCall() {
        AtomicReference<@Nullable Runnable> task = new AtomicReference<>();
        Runnable decorated = () -> {
            Runnable given = task.get();
            if (given != null) {
                given.run();
            }
        };
        for (TaskDecorator decorator : decorators) {
            decorated = decorator.decorate(decorated);
        }
        Runnable work = decorated;
        return given -> {
            task.set(given);
            execute(work);
        };
    }

    /** Runs work, without the context of anybody. */
    void execute(Runnable work) {
        CompletableFuture<@Nullable Void> begun = new CompletableFuture<>();
        executor.execute(() -> {
            if (begun.complete(null)) {
                work.run();
            }
        });
        if (executor != NEW_THREADS && !begun.isDone()) {
            var unused = begun.orTimeout(PATIENCE_MILLIS, TimeUnit.MILLISECONDS).whenComplete((none, late) -> {
                if (late != null) {
                    warn();
                    NEW_THREADS.execute(work);
                }
            });
        }
    }

    private void warn() {
        if (!hasWarned.getAndSet(true)) {
            LOG.warn(
                    "Work that holds a lock waited for {} ms in the queue of {}, and now runs on a thread of its own:"
                            + " all threads of that executor are busy, or wait for such work. Give it more threads."
                            + " This is logged once.",
                    PATIENCE_MILLIS,
                    executor);
        }
    }
}
