package dev.holdfast.spring.advice;

import dev.holdfast.HoldfastException;
import dev.holdfast.StoreRefusedException;
import dev.holdfast.StoreUnavailableException;
import dev.holdfast.spi.ResourceName;
import dev.holdfast.spring.LockLostEvent;
import dev.holdfast.spring.LockedWork;
import dev.holdfast.spring.ScheduledLock;
import dev.holdfast.spring.execution.AsyncExecution;
import dev.holdfast.spring.execution.TaskExecution;
import dev.holdfast.task.ScheduledTaskLock;
import dev.holdfast.task.TaskOptions;
import dev.holdfast.task.TaskRun;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.aop.ProxyMethodInvocation;

/** A method with {@link ScheduledLock}: reads and checks the annotation once, and carries out the calls. */
final class TaskMethod implements GuardedMethod {

    private static final Logger LOG = LoggerFactory.getLogger(TaskMethod.class);

    private final AnnotatedMethod where;
    private final ResultKind kind;
    private final String job;
    private final TaskOptions options;
    private final ClientReference client;
    private final AsyncCall async;
    private final Consumer<LockLostEvent> lossEvents;
    /** The number of consecutive calls for which the store did not reply, or refused. */
    private final AtomicLong failures = new AtomicLong();

    /**
     * Reads an annotation.
     *
     * @throws IllegalStateException if it is invalid
     */
    TaskMethod(AnnotatedMethod where, ScheduledLock values, Consumer<LockLostEvent> lossEvents) {
        this.where = where;
        this.kind = ResultKind.of(where);
        this.job = job(where, values);
        this.options = options(where, values);
        this.client = new ClientReference(where, where.text("client", values.client()));
        this.async = new AsyncCall(where.beans());
        this.lossEvents = lossEvents;
        Class<?> type = where.method().getReturnType();
        if (type.isPrimitive() && type != void.class) {
            throw where.misuse("there is no " + type + " to return when the method is skipped. Make the method void");
        }
    }

    private static String job(AnnotatedMethod where, ScheduledLock values) {
        String job = where.text("name", values.name());
        if (job.isEmpty()) {
            throw where.misuse("it has no name. Set a job name that stays the same when the method is renamed");
        }
        try {
            new ResourceName(job);
        } catch (IllegalArgumentException e) {
            throw where.misuse("\"" + job + "\" can't be the name of a job", e);
        }
        return job;
    }

    private static TaskOptions options(AnnotatedMethod where, ScheduledLock values) {
        try {
            TaskOptions options = where.duration("atMost", values.atMost())
                    .or(where.defaults()::atMost)
                    .map(TaskOptions::atMost)
                    .orElseThrow(() -> where.misuse("atMost is not set"));
            return where.duration("atLeast", values.atLeast())
                    .map(options::withAtLeast)
                    .orElse(options);
        } catch (IllegalArgumentException e) {
            throw where.misuse("a duration is out of range", e);
        }
    }

    String job() {
        return job;
    }

    @Override
    public void checkStore(boolean opensClient) {
        client.forCheck(opensClient).ifPresent(holdfast -> {
            try {
                ScheduledTaskLock unused = holdfast.task(job);
            } catch (IllegalArgumentException e) {
                throw where.misuse("the store doesn't support this", e);
            }
        });
    }

    @Override
    public @Nullable Object invoke(MethodInvocation invocation) throws Throwable {
        ScheduledTaskLock task = task();
        return switch (kind) {
            case VALUE -> result(runNow(task, invocation));
            case STAGE -> {
                MethodInvocation later = ((ProxyMethodInvocation) invocation).invocableClone();
                yield async.start(
                        invocation, executor -> runAsync(task, executor, () -> LockedMethod.stage(later.proceed())));
            }
            case REACTIVE -> ReactiveCall.task(invocation, (executor, work) -> runAsync(task, executor, work));
        };
    }

    private ScheduledTaskLock task() {
        try {
            return client.get().task(job);
        } catch (HoldfastException e) {
            throw countedFailure(e);
        }
    }

    @SuppressWarnings("NullAway") // That a task may return null is checked by newer compilers only.
    private TaskRun<@Nullable Object> runNow(ScheduledTaskLock task, MethodInvocation invocation) throws Exception {
        AtomicBoolean hasBegun = new AtomicBoolean();
        try {
            TaskRun<@Nullable Object> run = task.callIfDue(options, hold -> {
                hasBegun.set(true);
                failures.set(0);
                return TaskExecution.run(hold, job, where.name(), invocation::proceed, lossEvents);
            });
            failures.set(0);
            return run;
        } catch (HoldfastException e) {
            throw hasBegun.get() ? e : countedFailure(e);
        }
    }

    /**
     * The exception for the caller if the store fails before the task has begun. Schedulers log each exception and call
     * again, so only the first of several consecutive failures has a stack trace.
     */
    private HoldfastException countedFailure(HoldfastException failure) {
        boolean isUnavailable = failure instanceof StoreUnavailableException;
        if (!isUnavailable && !(failure instanceof StoreRefusedException)) {
            return failure;
        }
        long count = failures.incrementAndGet();
        if (count == 1) {
            return failure;
        }
        String message =
                failure.getMessage() + " This is failure " + count + " in a row; the first log entry has the cause.";
        HoldfastException repeated = isUnavailable
                ? new StoreUnavailableException(message, failure.resource(), failure.store(), null)
                : new StoreRefusedException(message, failure.resource(), failure.store(), null);
        repeated.setStackTrace(new StackTraceElement[0]);
        return repeated;
    }

    private CompletionStage<@Nullable Object> runAsync(
            ScheduledTaskLock task,
            Executor executor,
            LockedWork<? extends CompletionStage<@Nullable Object>, ?> work) {
        AtomicBoolean hasBegun = new AtomicBoolean();
        CompletionStage<@Nullable Object> result = task.<@Nullable Object>runIfDueAsync(options, hold -> {
                    hasBegun.set(true);
                    failures.set(0);
                    return AsyncExecution.call(
                            executor, () -> TaskExecution.run(hold, job, where.name(), work, lossEvents));
                })
                .thenApply(this::resultAfterFailures);
        return result.exceptionallyCompose(failure -> CompletableFuture.<@Nullable Object>failedFuture(
                !hasBegun.get() && failure.getCause() instanceof HoldfastException cause
                        ? countedFailure(cause)
                        : failure));
    }

    private @Nullable Object resultAfterFailures(TaskRun<@Nullable Object> run) {
        failures.set(0);
        return result(run);
    }

    private @Nullable Object result(TaskRun<@Nullable Object> run) {
        if (run instanceof TaskRun.Skipped<@Nullable Object> skipped) {
            LOG.debug("resource={} {} is skipped: {}", job, where.name(), skipped.why());
            return ResultKind.nothing(where.method().getReturnType());
        }
        return run.value();
    }
}
