package dev.holdfast.engine.execution;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * A result as users see it: one stage for all callers, completed on the callback executor, since the thread that
 * completes the result may be the only one of a store. Thread-safe.
 *
 * @param <T> the result
 */
public final class UserStage<T extends @Nullable Object> {

    private final AtomicReference<@Nullable CompletableFuture<T>> stage = new AtomicReference<>();

    /** Returns the stage of users for a result. All calls pass the same result. */
    public CompletableFuture<T> of(CompletableFuture<T> result, Callbacks callbacks) {
        CompletableFuture<T> present = stage.get();
        if (present != null) {
            return present;
        }
        CompletableFuture<T> fresh = new CompletableFuture<>();
        CompletableFuture<T> other = stage.compareAndExchange(null, fresh);
        if (other != null) {
            return other;
        }
        callbacks.relay(result, fresh);
        return fresh;
    }
}
