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
 * when it is submitted, since the wait for the lock occupies no thread. But then it must not wait in a queue for ever,
 * as it would if all threads of a bounded executor waited for such work. So work that has not begun in time gets a new
 * thread.
 */

/**
 * Calls asynchronous work under locks on the application's executor, with the context of the calling thread.
 * Thread-safe.
 */
public final class WorkThreads {

    private static final Logger LOG = LoggerFactory.getLogger(WorkThreads.class);

    /** The executor of Spring Boot. */
    private static final String APPLICATION_EXECUTOR = "applicationTaskExecutor";

    /** The executor of Spring for asynchronous methods, if there are several. */
    private static final String TASK_EXECUTOR = "taskExecutor";

    /** The time in the queue of an executor after which work gets a new thread. */
    private static final long PATIENCE_MILLIS = 1_000;

    /** Creates a thread for each task, and keeps none. */
    private static final Executor NEW_THREADS = new SimpleAsyncTaskExecutor("holdfast-work-");

    private final Executor executor;
    private final List<TaskDecorator> decorators;
    private final AtomicBoolean hasWarned = new AtomicBoolean();

    private WorkThreads(Executor executor, List<TaskDecorator> decorators) {
        this.executor = executor;
        this.decorators = decorators;
    }

    /** A new thread for each call, without the caller's context. */
    public static WorkThreads newThreads() {
        return new WorkThreads(NEW_THREADS, List.of());
    }

    /** The threads of an executor. Its decorator of tasks, if any, is applied on the calling thread. */
    public static WorkThreads of(Executor executor) {
        TaskDecorator own = decorator(executor);
        return new WorkThreads(executor, own == null ? List.of() : List.of(own));
    }

    /**
     * The threads of the application's executor, found like that for asynchronous methods of Spring: Spring Boot's, the
     * only one, or the one named {@value #TASK_EXECUTOR}. New threads if there is none.
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

    /** The task decorator of a Spring executor, read by reflection since there is no accessor. */
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

    /** Registers for native images the fields of Spring's executors that are read by reflection. */
    public static void registerHints(ReflectionHints hints) {
        Stream.of(ThreadPoolTaskExecutor.class, SimpleAsyncTaskExecutor.class)
                .map(WorkThreads::field)
                .filter(Objects::nonNull)
                .forEach(hints::registerField);
    }

    /**
     * An executor for one task, with the present context of the calling thread.
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

    /** Runs work without a context. */
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
                    "Work that holds a lock waited for {} ms in the queue of {} and now runs on a "
                            + "separate thread: all threads of that executor are busy or wait for such work. "
                            + "Give the executor more threads. This is logged once.",
                    PATIENCE_MILLIS,
                    executor);
        }
    }
}
