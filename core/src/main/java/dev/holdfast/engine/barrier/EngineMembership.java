package dev.holdfast.engine.barrier;

import dev.holdfast.BarrierMembership;
import dev.holdfast.Hold;
import dev.holdfast.Loss;
import dev.holdfast.ReleaseOutcome;
import dev.holdfast.engine.execution.Trampoline;
import dev.holdfast.engine.execution.Uninterruptibles;
import dev.holdfast.engine.local.HoldHandle;
import dev.holdfast.engine.local.LocalHold;
import dev.holdfast.engine.time.TotalWait;
import dev.holdfast.spi.CallerMode;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.function.Consumer;

/** A party that is inside a barrier. Thread-safe. */
final class EngineMembership implements BarrierMembership {

    private final EngineBarrier barrier;
    private final LocalHold place;
    private final Hold memory;
    private final long generation;

    EngineMembership(EngineBarrier barrier, LocalHold place, Hold memory, long generation) {
        this.barrier = barrier;
        this.place = place;
        this.memory = memory;
        this.generation = generation;
    }

    @Override
    public String name() {
        return barrier.name();
    }

    @Override
    public long generation() {
        return generation;
    }

    @Override
    public boolean isInside() {
        return place.isHeld();
    }

    @Override
    public BarrierMembership onLost(Consumer<Loss> listener) {
        place.onLost(listener);
        return this;
    }

    @Override
    public void leave() throws InterruptedException {
        if (!await(Optional.empty())) {
            throw new AssertionError("146 years have passed");
        }
    }

    @Override
    public boolean leave(Duration maxWait) throws InterruptedException {
        return await(Optional.of(maxWait));
    }

    private boolean await(Optional<Duration> maxWait) throws InterruptedException {
        CompletableFuture<Boolean> leaving = leaveWithin(TotalWait.begin(barrier.context.environment(), maxWait));
        try {
            Trampoline.flush();
            return leaving.get();
        } catch (ExecutionException e) {
            throw EngineBarrier.<RuntimeException>known(e);
        } catch (InterruptedException e) {
            leaving.cancel(false);
            throw e;
        }
    }

    @Override
    public CompletionStage<Void> leaveAsync() {
        CompletableFuture<Boolean> leaving =
                leaveWithin(TotalWait.begin(barrier.context.environment(), Optional.empty()));
        CompletableFuture<Void> userStage = barrier.context.callbacks().relay(leaving.thenAccept(all -> {}));
        var unused = userStage.whenComplete((all, failure) -> leaving.cancel(false));
        return userStage;
    }

    private CompletableFuture<Boolean> leaveWithin(TotalWait wait) {
        CompletableFuture<Boolean> result = new CompletableFuture<>();
        var unused = goOut().whenComplete((outcome, never) -> {
            if (outcome == ReleaseOutcome.LOST) {
                result.completeExceptionally(place.lostException(Loss.Cause.REMOVED));
            } else if (outcome == ReleaseOutcome.UNCONFIRMED) {
                result.completeExceptionally(place.unconfirmedException());
            } else if (!result.isDone()) {
                CompletableFuture<Boolean> others = BarrierExit.begin(barrier, generation, wait);
                var unusedOthers = others.whenComplete((all, failure) -> {
                    if (failure != null) {
                        result.completeExceptionally(failure);
                    } else {
                        result.complete(all);
                    }
                });
                var unusedWait = result.whenComplete((all, failure) -> others.cancel(false));
            }
        });
        return result;
    }

    /** Releases the place; later calls return the same result. */
    private CompletableFuture<ReleaseOutcome> goOut() {
        CompletableFuture<ReleaseOutcome> end = place.giveBack(CallerMode.ASYNC);
        var unused = HoldHandle.of(memory).giveBack(CallerMode.ASYNC);
        return end;
    }

    /** Leaves, without a result. */
    void leaveQuietly() {
        var unused = goOut();
    }

    @Override
    public void close() {
        ReleaseOutcome outcome;
        try {
            outcome = Uninterruptibles.uninterruptibly(goOut());
        } catch (ExecutionException e) {
            throw new IllegalStateException("a release must not fail", e);
        }
        if (outcome == ReleaseOutcome.UNCONFIRMED) {
            throw place.unconfirmedException();
        }
    }

    @Override
    public String toString() {
        return "BarrierMembership[" + name() + ", generation " + generation + "]";
    }
}
