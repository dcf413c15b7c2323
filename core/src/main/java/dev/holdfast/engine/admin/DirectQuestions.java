package dev.holdfast.engine.admin;

import dev.holdfast.spi.CallerMode;
import dev.holdfast.spi.Command;
import dev.holdfast.spi.LockStore;
import dev.holdfast.spi.Reply;
import dev.holdfast.spi.StoreException;
import dev.holdfast.spi.StoreException.Effect;
import dev.holdfast.spi.StoreException.Reason;
import dev.holdfast.spi.support.DurationFormat;
import dev.holdfast.spi.support.Stages;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/**
 * Sends inspections to an open store without a client, with the timer of the JDK's futures.
 *
 * @param callbacks where stages of users complete
 */
record DirectQuestions(LockStore store, Duration timeout, Executor callbacks) implements StoreQuestions {

    @Override
    public CompletableFuture<Reply> ask(Command command, CallerMode caller) {
        return send(command, caller)
                .exceptionallyCompose(thrown -> sendAgain(command, asStoreException(thrown)))
                .orTimeout(timeout.toNanos(), TimeUnit.NANOSECONDS)
                .exceptionallyCompose(thrown -> CompletableFuture.failedFuture(asStoreException(thrown)));
    }

    private CompletableFuture<Reply> send(Command command, CallerMode caller) {
        try {
            // A copy: the time-out applies only to this inspection.
            return store.execute(command, caller).toCompletableFuture().copy();
        } catch (RuntimeException e) {
            return CompletableFuture.failedFuture(e);
        }
    }

    /** Retries once: a connection that was cut while idle fails the first command. */
    private CompletableFuture<Reply> sendAgain(Command command, StoreException first) {
        if (first.reason() != Reason.UNAVAILABLE) {
            return CompletableFuture.failedFuture(first);
        }
        return send(command, CallerMode.ASYNC)
                .thenCompose(reply -> reply instanceof Reply.Absent && first.effect() == Effect.UNKNOWN
                        // The first command may have ended the hold.
                        ? CompletableFuture.failedFuture(first)
                        : CompletableFuture.completedFuture(reply));
    }

    private StoreException asStoreException(Throwable thrown) {
        Throwable cause = Stages.causeOf(thrown);
        if (cause instanceof StoreException known) {
            return known;
        }
        String what = cause instanceof TimeoutException
                ? "it did not answer within " + DurationFormat.format(timeout)
                : "an unexpected error occurred: " + cause;
        return new StoreException(Reason.UNAVAILABLE, Effect.UNKNOWN, what, cause);
    }

    @Override
    public <T extends @Nullable Object> CompletionStage<T> forUsers(CompletableFuture<T> result) {
        return result.thenApplyAsync(value -> value, callbacks);
    }

    @Override
    public RuntimeException explain(RuntimeException failure) {
        return failure;
    }
}
