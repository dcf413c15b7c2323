package dev.holdfast.engine.execution;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * The end of something as users see it: one stage for all who ask, completed on the callback executor, for the thread
 * that learns of the end may be the only one of a store. Thread-safe.
 *
 * @param <T> what it ends with
 */
public final class UserStage<T extends @Nullable Object> {

    private final AtomicReference<@Nullable CompletableFuture<T>> stage = new AtomicReference<>();

    /** The stage that tells of an end; the first call decides of which. */
    public CompletableFuture<T> of(CompletableFuture<T> end, Callbacks callbacks) {
        CompletableFuture<T> present = stage.get();
        if (present != null) {
            return present;
        }
        CompletableFuture<T> fresh = new CompletableFuture<>();
        CompletableFuture<T> other = stage.compareAndExchange(null, fresh);
        if (other != null) {
            return other;
        }
        callbacks.relay(end, fresh);
        return fresh;
    }
}
