package dev.holdfast.engine.lock;

import dev.holdfast.Hold;
import dev.holdfast.Loss;
import dev.holdfast.ReleaseOutcome;
import dev.holdfast.engine.client.ClientContext;
import dev.holdfast.engine.local.LocalHold;
import dev.holdfast.spi.CallerMode;
import dev.holdfast.spi.support.Stages;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * An asynchronous task that runs while a lock is held. The lock is acquired, the task started, the lock released and
 * the caller's stage completed, one after the other; a loss or a cancellation may happen at any time.
 *
 * @param <T> the task's result
 */
final class StageWhileHeld<T extends @Nullable Object> {

    private final ClientContext context;
    private final Function<? super Hold, ? extends CompletionStage<T>> task;
    private final CompletableFuture<T> result = new CompletableFuture<>();

    StageWhileHeld(ClientContext context, Function<? super Hold, ? extends CompletionStage<T>> task) {
        this.context = context;
        this.task = task;
    }

    CompletableFuture<T> begin(CompletableFuture<Hold> asked) {
        passCancellationTo(asked);
        var unused = asked.whenComplete((hold, failure) -> {
            if (hold instanceof LocalHold granted) {
                run(granted);
            } else {
                result.completeExceptionally(Stages.causeOf(failure));
            }
        });
        return result;
    }

    private void run(LocalHold hold) {
        CompletableFuture<T> work;
        try {
            work = task.apply(hold).toCompletableFuture();
        } catch (RuntimeException | Error e) {
            work = CompletableFuture.failedFuture(e);
        }
        CompletableFuture<T> begun = work;
        passCancellationTo(begun);
        hold.onLost(loss -> begun.cancel(false));
        var unused = begun.whenComplete((value, failure) -> release(hold, value, failure));
    }

    private void release(LocalHold hold, T value, @Nullable Throwable failure) {
        var unused = hold.giveBack(CallerMode.ASYNC)
                .thenAccept(outcome -> context.callbacks().run(() -> {
                    RuntimeException trouble = troubleOf(hold, outcome);
                    if (trouble != null && failure != null) {
                        trouble.addSuppressed(Stages.causeOf(failure));
                    }
                    if (trouble != null) {
                        result.completeExceptionally(trouble);
                    } else if (failure != null) {
                        result.completeExceptionally(Stages.causeOf(failure));
                    } else {
                        result.complete(value);
                    }
                }));
    }

    private @Nullable RuntimeException troubleOf(LocalHold hold, ReleaseOutcome outcome) {
        return switch (outcome) {
            case LOST -> hold.lostException(Loss.Cause.REMOVED);
            case UNCONFIRMED -> hold.unconfirmedException();
            case RELEASED, STILL_HELD -> null;
        };
    }

    private void passCancellationTo(CompletableFuture<?> stage) {
        var unused = result.whenComplete((value, failure) -> {
            if (result.isCancelled()) {
                stage.cancel(false);
            }
        });
    }
}
