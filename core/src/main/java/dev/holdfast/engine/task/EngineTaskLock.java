package dev.holdfast.engine.task;

import dev.holdfast.Hold;
import dev.holdfast.LockWaitTimeoutException;
import dev.holdfast.LockedTask;
import dev.holdfast.StoreUnavailableException;
import dev.holdfast.engine.client.ClientContext;
import dev.holdfast.engine.execution.Uninterruptibles;
import dev.holdfast.engine.local.AcquireTerms;
import dev.holdfast.engine.local.Acquirer;
import dev.holdfast.engine.local.HoldHandle;
import dev.holdfast.engine.local.LocalResources;
import dev.holdfast.engine.local.StageWhileHeld;
import dev.holdfast.engine.local.TaskWhileHeld;
import dev.holdfast.spi.CallerMode;
import dev.holdfast.spi.Lease;
import dev.holdfast.spi.ResourceName;
import dev.holdfast.task.ScheduledTaskLock;
import dev.holdfast.task.TaskHold;
import dev.holdfast.task.TaskOptions;
import dev.holdfast.task.TaskRun;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** The guard of one job. Immutable. */
public final class EngineTaskLock implements ScheduledTaskLock {

    private final ClientContext context;
    private final Acquirer acquirer;

    public EngineTaskLock(LocalResources resources, LeftLeases leases, ResourceName name) {
        this.context = resources.context;
        this.acquirer = new Acquirer(resources, name, leases.mode);
    }

    @Override
    public String name() {
        return acquirer.name().value();
    }

    @Override
    public <T extends @Nullable Object, E extends Exception> TaskRun<T> callIfDue(
            TaskOptions options, LockedTask<T, E> task) throws E {
        Objects.requireNonNull(task, "task");
        EngineTaskHold hold;
        try {
            hold = begin(options);
        } catch (LockWaitTimeoutException taken) {
            return new TaskRun.Skipped<>(taken.reason());
        }
        return new TaskRun.Ran<>(TaskWhileHeld.run(hold, granted -> {
            T result;
            try {
                result = task.call(granted);
            } catch (Throwable t) {
                hold.taskEnded(t);
                throw t;
            }
            hold.taskEnded(null);
            return result;
        }));
    }

    @Override
    public Optional<TaskHold> tryBegin(TaskOptions options) {
        try {
            return Optional.of(begin(options));
        } catch (LockWaitTimeoutException taken) {
            return Optional.empty();
        }
    }

    private EngineTaskHold begin(TaskOptions options) {
        EngineTaskHold hold;
        try {
            hold = (EngineTaskHold) Uninterruptibles.uninterruptibly(attempt(options, CallerMode.BLOCKING));
        } catch (ExecutionException e) {
            throw notRun(e.getCause(), options);
        }
        hold.start(options.atLeast());
        return hold;
    }

    private CompletableFuture<Hold> attempt(TaskOptions options, CallerMode caller) {
        return acquirer.enterForEngine(AcquireTerms.attempt(Lease.detached(options.atMost())), caller);
    }

    private RuntimeException notRun(@Nullable Throwable cause, TaskOptions options) {
        if (cause instanceof StoreUnavailableException unavailable) {
            return context.failures().taskUnanswered(name(), options.atMost(), unavailable);
        }
        return cause instanceof RuntimeException known ? known : new IllegalStateException(cause);
    }

    @Override
    public <T extends @Nullable Object> CompletionStage<TaskRun<T>> runIfDueAsync(
            TaskOptions options, Function<? super Hold, ? extends CompletionStage<T>> task) {
        StageWhileHeld<T, TaskRun<T>> run = new StageWhileHeld<>(task, TaskRun.Ran::new);
        CompletableFuture<TaskRun<T>> stage = run.stage();
        CompletableFuture<Hold> attempt = attempt(options, CallerMode.ASYNC);
        run.passCancellationTo(attempt);
        var unused =
                attempt.whenComplete((granted, failure) -> context.callbacks().run(() -> {
                    if (failure instanceof LockWaitTimeoutException taken) {
                        stage.complete(new TaskRun.Skipped<>(taken.reason()));
                    } else if (failure != null) {
                        stage.completeExceptionally(notRun(failure, options));
                    } else if (stage.isDone()) {
                        var unusedEnd = HoldHandle.of(granted).giveBack(CallerMode.ASYNC);
                    } else {
                        EngineTaskHold hold = (EngineTaskHold) granted;
                        hold.start(options.atLeast());
                        run.run(hold, hold::taskEnded);
                    }
                }));
        return stage;
    }

    @Override
    public String toString() {
        return "ScheduledTaskLock[" + name() + ", " + context.product() + "]";
    }
}
