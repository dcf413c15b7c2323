package dev.holdfast.engine.task;

import dev.holdfast.Hold;
import dev.holdfast.LockLostException;
import dev.holdfast.LockedTask;
import dev.holdfast.ReleaseOutcome;
import dev.holdfast.ScheduledTaskLock;
import dev.holdfast.TaskOptions;
import dev.holdfast.TaskRun;
import dev.holdfast.engine.client.ClientContext;
import dev.holdfast.engine.execution.Uninterruptibles;
import dev.holdfast.engine.local.LossInterrupt;
import dev.holdfast.spi.CallerMode;
import dev.holdfast.spi.ResourceName;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** The guard of one job. Immutable. */
public final class EngineTaskLock implements ScheduledTaskLock {

    private final ClientContext context;
    private final TaskHolds tasks;
    private final ResourceName name;

    public EngineTaskLock(TaskHolds tasks, ResourceName name) {
        this.context = tasks.context;
        this.tasks = tasks;
        this.name = name;
    }

    @Override
    public String name() {
        return name.value();
    }

    @Override
    public <T extends @Nullable Object, E extends Exception> TaskRun<T> callIfDue(
            TaskOptions options, LockedTask<T, E> task) throws E {
        Objects.requireNonNull(task, "task");
        TaskAcquisition.Result result = await(acquisition(options).begin(CallerMode.BLOCKING));
        TaskHold hold = result.hold();
        if (hold == null) {
            return new TaskRun.Skipped<>(result.why());
        }
        hold.started();
        return new TaskRun.Ran<>(LossInterrupt.run(hold, task));
    }

    private static TaskAcquisition.Result await(CompletableFuture<TaskAcquisition.Result> asked) {
        try {
            return Uninterruptibles.uninterruptibly(asked);
        } catch (ExecutionException e) {
            if (e.getCause() instanceof RuntimeException known) {
                throw known;
            }
            throw new IllegalStateException(e.getCause());
        }
    }

    @Override
    public <T extends @Nullable Object> CompletionStage<TaskRun<T>> runIfDueAsync(
            TaskOptions options, Function<? super Hold, ? extends CompletionStage<T>> task) {
        CompletableFuture<TaskRun<T>> stage = new CompletableFuture<>();
        CompletableFuture<TaskAcquisition.Result> asked = acquisition(options).begin(CallerMode.ASYNC);
        passCancellation(stage, asked);
        var unused = asked.whenComplete((result, failure) -> context.callbacks().run(() -> {
            TaskHold hold = failure == null ? result.hold() : null;
            if (failure != null) {
                stage.completeExceptionally(failure);
            } else if (hold == null) {
                stage.complete(new TaskRun.Skipped<>(result.why()));
            } else if (stage.isDone()) {
                hold.cancelled();
            } else {
                run(hold, task, stage);
            }
        }));
        return stage;
    }

    private static void passCancellation(CompletableFuture<?> from, CompletableFuture<?> to) {
        var unused = from.whenComplete((value, failure) -> {
            if (from.isCancelled()) {
                to.cancel(false);
            }
        });
    }

    private <T extends @Nullable Object> void run(
            TaskHold hold,
            Function<? super Hold, ? extends CompletionStage<T>> task,
            CompletableFuture<TaskRun<T>> stage) {
        hold.started();
        CompletableFuture<T> work;
        try {
            work = task.apply(hold).toCompletableFuture();
        } catch (RuntimeException | Error e) {
            work = CompletableFuture.failedFuture(e);
        }
        CompletableFuture<T> begun = work;
        passCancellation(stage, begun);
        hold.onLost(loss -> begun.cancel(false));
        var unused = begun.whenComplete((value, failure) -> {
            var unusedEnd = hold.finish(CallerMode.ASYNC)
                    .thenAccept(how -> context.callbacks().run(() -> tell(hold, how, value, failure, stage)));
        });
    }

    private static <T extends @Nullable Object> void tell(
            TaskHold hold,
            ReleaseOutcome how,
            T value,
            @Nullable Throwable failure,
            CompletableFuture<TaskRun<T>> stage) {
        Throwable cause =
                failure instanceof CompletionException && failure.getCause() != null ? failure.getCause() : failure;
        try {
            hold.throwIfLostBy(how);
        } catch (LockLostException lost) {
            if (cause != null) {
                lost.addSuppressed(cause);
            }
            stage.completeExceptionally(lost);
            return;
        }
        if (cause != null) {
            stage.completeExceptionally(cause);
        } else {
            stage.complete(new TaskRun.Ran<>(value));
        }
    }

    private TaskAcquisition acquisition(TaskOptions options) {
        return new TaskAcquisition(tasks, name, options.atMost(), options.atLeast());
    }

    @Override
    public String toString() {
        return "ScheduledTaskLock[" + name + ", " + context.product() + "]";
    }
}
