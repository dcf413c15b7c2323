package dev.holdfast.engine.barrier;

import dev.holdfast.engine.client.ClientContext;
import dev.holdfast.engine.time.PollBackoff;
import dev.holdfast.engine.time.TotalWait;
import dev.holdfast.spi.StoreException;
import dev.holdfast.spi.support.Stages;
import java.util.concurrent.CompletableFuture;

/** Polls until all members of a generation have left. */
final class BarrierExit {

    private final EngineBarrier barrier;
    private final ClientContext context;
    private final long generation;
    private final TotalWait wait;
    private final PollBackoff backoff;
    private final CompletableFuture<Boolean> result = new CompletableFuture<>();

    private BarrierExit(EngineBarrier barrier, long generation, TotalWait wait) {
        this.barrier = barrier;
        this.context = barrier.context;
        this.generation = generation;
        this.wait = wait;
        this.backoff = new PollBackoff(context.environment());
    }

    /** Completes with whether all have left within the wait. Completing it from outside stops the polls. */
    static CompletableFuture<Boolean> begin(EngineBarrier barrier, long generation, TotalWait wait) {
        BarrierExit leaving = new BarrierExit(barrier, generation, wait);
        barrier.context.life().endWithClient(leaving.result);
        leaving.poll();
        return leaving.result;
    }

    private void poll() {
        if (result.isDone()) {
            return;
        }
        var unused = barrier.present().whenComplete((present, failure) -> {
            if (failure != null && !isPassing(failure)) {
                result.completeExceptionally(
                        context.storeFailure(barrier.name(), (StoreException) Stages.causeOf(failure)));
            } else if (failure == null
                    && present.stream().noneMatch(party -> EngineBarrier.firstToken(party) <= generation)) {
                result.complete(true);
            } else if (wait.isOver()) {
                result.complete(false);
            } else {
                backoff.later(wait.leftNanos(Long.MAX_VALUE), this::poll);
            }
        });
    }

    /** Whether the store may answer a further poll. */
    private boolean isPassing(Throwable failure) {
        return !(Stages.causeOf(failure) instanceof StoreException known)
                || (known.reason() == StoreException.Reason.UNAVAILABLE && !barrier.isStoreSilent());
    }
}
