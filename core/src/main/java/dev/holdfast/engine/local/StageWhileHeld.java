package dev.holdfast.engine.local;

import dev.holdfast.Hold;
import dev.holdfast.ReleaseOutcome;
import dev.holdfast.spi.CallerMode;
import dev.holdfast.spi.support.Stages;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Runs an asynchronous task for as long as it has a hold. The task starts, the hold is released and the caller's stage
 * completes, one after the other; a loss or a cancellation may happen at any time.
 *
 * @param <T> the task's result
 * @param <R> what the caller gets for it
 */
public final class StageWhileHeld<T extends @Nullable Object, R extends @Nullable Object> {

    private final Function<? super Hold, ? extends CompletionStage<T>> task;
    private final Function<T, R> result;
    private final CompletableFuture<R> stage = new CompletableFuture<>();

    public StageWhileHeld(Function<? super Hold, ? extends CompletionStage<T>> task, Function<T, R> result) {
        this.task = task;
        this.result = result;
    }

    /** The caller's stage. */
    public CompletableFuture<R> stage() {
        return stage;
    }

    /** A cancellation of the caller's stage also cancels a future that it depends on. */
    public void passCancellationTo(CompletableFuture<?> future) {
        var unused = stage.whenComplete((value, failure) -> {
            if (stage.isCancelled()) {
                future.cancel(false);
            }
        });
    }

    /** Starts the task; it is cancelled when the hold is lost. */
    public void run(LocalHold hold) {
        run(hold, failure -> {});
    }

    /**
     * As above.
     *
     * @param ended called before the hold is released, with the failure of the task, or null
     */
    public void run(LocalHold hold, Consumer<@Nullable Throwable> ended) {
        CompletableFuture<T> work;
        try {
            work = task.apply(hold).toCompletableFuture();
        } catch (RuntimeException | Error e) {
            work = CompletableFuture.failedFuture(e);
        }
        CompletableFuture<T> begun = work;
        passCancellationTo(begun);
        hold.onLost(loss -> begun.cancel(false));
        var unused = begun.whenComplete((value, failure) -> {
            ended.accept(failure == null ? null : Stages.causeOf(failure));
            var unusedEnd = hold.giveBack(CallerMode.ASYNC)
                    .thenAccept(outcome ->
                            hold.resource().context().callbacks().run(() -> complete(hold, outcome, value, failure)));
        });
    }

    /** A hold that was not released takes precedence: the exception of the task is suppressed in that. */
    private void complete(LocalHold hold, ReleaseOutcome outcome, T value, @Nullable Throwable failure) {
        Throwable cause = failure == null ? null : Stages.causeOf(failure);
        try {
            hold.requireGood(outcome);
        } catch (RuntimeException e) {
            if (cause != null) {
                e.addSuppressed(cause);
            }
            cause = e;
        }
        if (cause != null) {
            stage.completeExceptionally(cause);
        } else {
            stage.complete(result.apply(value));
        }
    }
}
