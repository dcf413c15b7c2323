package dev.holdfast.engine.execution;

import dev.holdfast.Environment;
import dev.holdfast.spi.support.Stages;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/** Runs code of users on the executors of the environment. Thread-safe; called without any lock. */
public final class Callbacks {
    private final Environment environment;

    public Callbacks(Environment environment) {
        this.environment = environment;
    }

    /**
     * Runs a task that calls code of users on the callback executor, or on this thread if that rejects it: a grant that
     * is not reported would be held forever.
     */
    public void run(Runnable task) {
        environment.callbacks().execute(task);
    }

    /** Runs what must not wait for callbacks of users that block: a listener for a loss, or for a deadlock. */
    public void runListener(Runnable listener) {
        environment.lossListeners().execute(listener);
    }

    /** The same result for users, completed on the callback executor. */
    public <T extends @Nullable Object> CompletableFuture<T> relay(CompletableFuture<T> result) {
        CompletableFuture<T> stage = new CompletableFuture<>();
        relay(result, stage);
        return stage;
    }

    /** Completes a stage of users with a result: on the callback executor, or at once if the result is known. */
    public <T extends @Nullable Object> void relay(CompletableFuture<T> result, CompletableFuture<T> stage) {
        if (result.isDone()) {
            var unused = result.whenComplete((value, failure) -> complete(stage, value, failure));
        } else {
            var unused = result.whenComplete((value, failure) -> run(() -> complete(stage, value, failure)));
        }
    }

    private static <T extends @Nullable Object> void complete(
            CompletableFuture<T> stage, T value, @Nullable Throwable failure) {
        if (failure == null) {
            stage.complete(value);
        } else {
            stage.completeExceptionally(Stages.causeOf(failure));
        }
    }
}
