package dev.holdfast.spring.execution;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Runs the work of an asynchronous call on the calling thread, which waits for the lock: that thread was provided for
 * the work, with the context that it needs. Thread-safe.
 */
public final class CallingThread implements Executor {

    private final CompletableFuture<Runnable> work = new CompletableFuture<>();

    private CallingThread() {}

    /**
     * Starts a call, and returns when its work has been called or the call has ended without it.
     *
     * @param start starts the call, and submits its work to the executor
     * @throws InterruptedException if interrupted before the work was called; the call is cancelled
     */
    public static <T extends @Nullable Object> CompletableFuture<T> call(
            Function<? super Executor, ? extends CompletionStage<T>> start) throws InterruptedException {
        CallingThread thread = new CallingThread();
        CompletionStage<T> result = start.apply(thread);
        result.whenComplete((value, failure) -> thread.work.complete(() -> {}));
        try {
            thread.work.get().run();
        } catch (InterruptedException e) {
            if (thread.work.cancel(false)) {
                result.toCompletableFuture().cancel(true);
                throw e;
            }
            Thread.currentThread().interrupt();
            thread.work.join().run();
        } catch (ExecutionException e) {
            throw new IllegalStateException(e);
        }
        return result.toCompletableFuture();
    }

    @Override
    public void execute(Runnable task) {
        if (!work.complete(task)) {
            throw new RejectedExecutionException("The thread was interrupted while it waited for the lock");
        }
    }
}
