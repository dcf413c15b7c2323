package dev.holdfast.spring.execution;

import dev.holdfast.spring.LockedWork;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;

/**
 * The stage of asynchronous work that an executor calls. It completes only when the work has ended, since the work
 * needs its locks until then. Cancelling it cancels the work. Thread-safe.
 */
final class WorkStage<T extends @Nullable Object> extends CompletableFuture<T> {

    private final CompletableFuture<CompletableFuture<T>> called = new CompletableFuture<>();

    private WorkStage() {}

    /**
     * Submits work to an executor.
     *
     * @throws java.util.concurrent.RejectedExecutionException if the executor rejects it
     */
    static <T extends @Nullable Object> CompletableFuture<T> start(
            Executor executor, LockedWork<? extends CompletionStage<T>, ?> work) {
        WorkStage<T> stage = new WorkStage<>();
        executor.execute(() -> stage.call(work));
        return stage;
    }

    private void call(LockedWork<? extends CompletionStage<T>, ?> work) {
        CompletionStage<T> running;
        try {
            running = work.run();
        } catch (Throwable thrown) {
            running = CompletableFuture.failedFuture(thrown);
        }
        running.whenComplete((value, failure) -> {
            if (failure == null) {
                complete(value);
            } else {
                completeExceptionally(AsyncExecution.unwrapped(failure));
            }
        });
        called.complete(running.toCompletableFuture());
    }

    @Override
    public boolean cancel(boolean mayInterruptIfRunning) {
        CompletionStage<CompletableFuture<T>> begun = called;
        begun.thenAccept(running -> running.cancel(mayInterruptIfRunning));
        return isCancelled();
    }
}
