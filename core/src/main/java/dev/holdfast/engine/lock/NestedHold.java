package dev.holdfast.engine.lock;

import dev.holdfast.Hold;
import dev.holdfast.Loss;
import dev.holdfast.ReleaseOutcome;
import dev.holdfast.engine.execution.Audience;
import dev.holdfast.engine.local.HoldHandle;
import dev.holdfast.engine.local.LocalHold;
import dev.holdfast.engine.local.Sharing;
import dev.holdfast.spi.CallerMode;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;

/** The handle of a re-entrant acquisition: the outer hold, which it releases only once itself. */
public final class NestedHold implements HoldHandle {

    private final LocalHold outer;

    /** Written by the owner thread. Other threads may read an old value until they next synchronise with it. */
    private boolean isClosed;

    private final Sharing sharing;

    public NestedHold(LocalHold outer, Sharing sharing) {
        this.outer = outer;
        this.sharing = sharing;
    }

    @Override
    public String name() {
        return outer.name();
    }

    @Override
    public long fencingToken() {
        outer.requireOpen(isClosed);
        return outer.token();
    }

    @Override
    public String holdId() {
        return outer.holdId();
    }

    @Override
    public boolean isHeld() {
        return !isClosed && outer.isLive();
    }

    @Override
    public void ensureHeld() {
        outer.requireOpen(isClosed);
        outer.ensureLive();
    }

    @Override
    public Duration remaining() {
        return isClosed ? Duration.ZERO : outer.liveFor();
    }

    @Override
    public Duration effectiveLease() {
        return outer.effectiveLease();
    }

    @Override
    public Hold onLost(Consumer<Loss> listener) {
        outer.listen(this, isClosed, listener, Audience.USER);
        return this;
    }

    @Override
    public void whenLost(Consumer<Loss> reaction) {
        outer.listen(this, isClosed, reaction, Audience.ENGINE);
    }

    @Override
    public void extend(Duration lease) {
        outer.requireOpen(isClosed);
        outer.extendLease(lease);
    }

    @Override
    public CompletionStage<ReleaseOutcome> releaseAsync() {
        return outer.userStage(giveBack(CallerMode.ASYNC));
    }

    @Override
    public void close() {
        if (!isClosed) {
            outer.finish(giveBack(CallerMode.BLOCKING));
        }
    }

    @Override
    public CompletableFuture<ReleaseOutcome> giveBack(CallerMode caller) {
        outer.requireOwner();
        if (isClosed) {
            return CompletableFuture.completedFuture(ReleaseOutcome.STILL_HELD);
        }
        isClosed = true;
        CompletableFuture<ReleaseOutcome> outcome = outer.letGo(caller, sharing);
        if (outer.isEntered()) {
            outer.stopListening(this);
        }
        return outcome;
    }

    @Override
    public String toString() {
        return "Hold[" + name() + ", token " + outer.shownToken() + ", nested, "
                + (isClosed ? "released" : outer.state()) + ", "
                + outer.resource().partition.context.product() + "]";
    }
}
