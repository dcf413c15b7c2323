package dev.holdfast.spring.execution;

import dev.holdfast.HoldfastException;
import dev.holdfast.LockLostException;
import dev.holdfast.Loss;
import dev.holdfast.ReleaseOutcome;
import dev.holdfast.spring.LockLostEvent;
import dev.holdfast.spring.LockedWork;
import dev.holdfast.spring.LossReaction;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Runs asynchronous work under locks that belong to no thread, until the stage of the work completes. Cancelling the
 * caller's future ends the wait for the locks, or cancels the work; the locks are released when the work has ended.
 */
public final class AsyncExecution<T extends @Nullable Object> {

    private final LockRequest request;
    private final LockedWork<? extends CompletionStage<T>, ?> work;
    private final FailureReaction<? extends CompletionStage<T>> onFailure;
    private final Consumer<LockLostEvent> lossEvents;
    private final Executor executor;
    private final CompletableFuture<T> result = new CompletableFuture<>();
    private final CompletableFuture<Loss> loss = new CompletableFuture<>();
    private final CompletionStage<Loss> lost = loss;

    private AsyncExecution(
            LockRequest request,
            LockedWork<? extends CompletionStage<T>, ?> work,
            FailureReaction<? extends CompletionStage<T>> onFailure,
            Consumer<LockLostEvent> lossEvents,
            Executor executor) {
        this.request = request;
        this.work = work;
        this.onFailure = onFailure;
        this.lossEvents = lossEvents;
        this.executor = executor;
    }

    /** Produces the caller's result if the locks could not be acquired. */
    @FunctionalInterface
    public interface FailureReaction<R> {
        R react(HoldfastException failure) throws Throwable;
    }

    /**
     * Acquires the locks, calls the work on an executor, and releases them when it has ended.
     *
     * @param onFailure called on a thread of the client, so it must run user code on the executor too
     */
    public static <T extends @Nullable Object> CompletableFuture<T> start(
            LockRequest request,
            LockedWork<? extends CompletionStage<T>, ?> work,
            FailureReaction<? extends CompletionStage<T>> onFailure,
            Consumer<LockLostEvent> lossEvents,
            Executor executor) {
        return new AsyncExecution<>(request, work, onFailure, lossEvents, executor).start();
    }

    private CompletableFuture<T> start() {
        CompletionStage<HeldLocks> acquisition = request.acquireAsync();
        cancelledWithResult(acquisition);
        acquisition.whenComplete((locks, failure) -> {
            if (locks != null) {
                run(locks);
            } else {
                react(unwrapped(failure));
            }
        });
        return result;
    }

    private void cancelledWithResult(CompletionStage<?> part) {
        CompletionStage<T> ended = result;
        ended.whenComplete((value, failure) -> {
            if (result.isCancelled()) {
                part.toCompletableFuture().cancel(true);
            }
        });
    }

    private void react(Throwable failure) {
        if (!(failure instanceof HoldfastException expected)) {
            result.completeExceptionally(failure);
            return;
        }
        try {
            onFailure.react(expected).whenComplete(this::complete);
        } catch (Throwable thrown) {
            result.completeExceptionally(thrown);
        }
    }

    private void run(HeldLocks locks) {
        if (result.isCancelled()) {
            // The grant came before the cancellation, and its locks must be released here.
            CompletionStage<ReleaseOutcome> unused = locks.releaseAsync();
            return;
        }
        locks.onLost(what -> {
            loss.complete(what);
            lossEvents.accept(new LockLostEvent(request.work(), request.names(), what));
        });
        CompletableFuture<T> running = begin(locks);
        CompletionStage<T> stage = running;
        cancelledWithResult(stage);
        if (request.settings().onLoss() == LossReaction.INTERRUPT) {
            lost.thenAccept(what -> running.cancel(true));
        }
        stage.whenComplete((value, failure) ->
                locks.releaseAsync().whenComplete((outcome, unreleased) -> end(outcome, value, failure)));
    }

    private CompletableFuture<T> begin(HeldLocks locks) {
        return call(executor, () -> {
            if (result.isCancelled()) {
                throw new CancellationException();
            }
            HeldStack stack = HeldStack.push(locks);
            try {
                return work.run();
            } finally {
                stack.pop();
            }
        });
    }

    /**
     * Calls asynchronous work on an executor.
     *
     * @return a future that completes when the work has ended. Cancelling it only cancels the work.
     */
    public static <T extends @Nullable Object> CompletableFuture<T> call(
            Executor executor, LockedWork<? extends CompletionStage<T>, ?> work) {
        try {
            return WorkStage.start(executor, work);
        } catch (RuntimeException rejected) {
            return CompletableFuture.failedFuture(rejected);
        }
    }

    private void end(@Nullable ReleaseOutcome outcome, T value, @Nullable Throwable failure) {
        if (outcome == ReleaseOutcome.LOST && request.settings().onLoss() != LossReaction.EVENT) {
            lost.thenAccept(what -> {
                LockLostException thrown = new LockLostException(what);
                if (failure != null) {
                    thrown.addSuppressed(unwrapped(failure));
                }
                result.completeExceptionally(thrown);
            });
        } else {
            complete(value, failure);
        }
    }

    private void complete(T value, @Nullable Throwable failure) {
        if (failure == null) {
            result.complete(value);
        } else {
            result.completeExceptionally(unwrapped(failure));
        }
    }

    static Throwable unwrapped(Throwable failure) {
        return failure instanceof CompletionException && failure.getCause() != null ? failure.getCause() : failure;
    }
}
