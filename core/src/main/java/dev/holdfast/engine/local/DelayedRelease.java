package dev.holdfast.engine.local;

import dev.holdfast.engine.execution.DeferredActions;
import dev.holdfast.engine.session.Claim;
import java.util.concurrent.TimeUnit;

/**
 * What a resource keeps a little longer than it is used, because somebody may come in a moment; a timer looks later
 * whether it still is to be kept. Guarded by the lock of the resource.
 */
final class DelayedRelease {

    private static final long LINGER_NANOS = TimeUnit.MILLISECONDS.toNanos(1);

    private final LocalSynchronizer resource;

    /** A look is set at the grant that nobody uses; how many were served under it by then. */
    private boolean isKeeping;

    private int servedBefore;

    /** A look is set at the claim that waits at the store. */
    private boolean isToDrop;

    DelayedRelease(LocalSynchronizer resource) {
        this.resource = resource;
    }

    // ---- A grant that nobody uses

    /** Readers that come and go would else ask the store again each time that nobody happens to read. */
    static boolean isFor(LocalSynchronizer resource, LocalGrant held) {
        return held.wasShared()
                && resource.policy.hasReaders()
                && resource.partition.context.cohortBudgetNanos() > 0
                && !held.isSpent();
    }

    /** Whether a grant that nobody uses is kept. */
    boolean isKeeping() {
        return isKeeping;
    }

    /** Keeps a grant that nobody uses. */
    void keep(LocalGrant held, DeferredActions out) {
        if (!isKeeping) {
            isKeeping = true;
            servedBefore = held.served();
            out.add(() -> resource.partition
                    .context
                    .environment()
                    .schedule(LINGER_NANOS, () -> resource.step(this::endKeeping)));
        }
    }

    private void endKeeping(DeferredActions out) {
        isKeeping = false;
        LocalGrant held = resource.claims.firstGrant();
        if (held != null && held.state == Claim.State.HELD && held.isIdle() && resource.queue.isEmpty()) {
            if (held.served() != servedBefore && isFor(resource, held) && !resource.partition.context.isClosing()) {
                keep(held, out);
            } else {
                resource.claims.giveBack(held, out);
            }
        }
        resource.tidy();
    }

    // ---- A grant that allows more than it is used for

    /**
     * A writer that leaves its grant to readers of its process would keep those of others out for as long as they read.
     * While they come and go it does not matter: the grant serves the next writer too, and its budget is bounded.
     */
    void leaveRoomLater(LocalGrant held, DeferredActions out) {
        if (held.scheduleShrink()) {
            int served = held.served();
            out.add(() -> resource.partition
                    .context
                    .environment()
                    .schedule(
                            resource.partition.context.cohortBudgetNanos(),
                            () -> resource.step(then -> leaveRoom(held, served, then))));
        }
    }

    private void leaveRoom(LocalGrant held, int servedThen, DeferredActions out) {
        held.endShrinkSchedule();
        if (held.state == Claim.State.HELD && held.weight > 1 && held.tenant() == null && !held.isIdle()) {
            if (held.served() == servedThen) {
                resource.claims.shrink(held, 1, out);
            } else {
                leaveRoomLater(held, out);
            }
        }
    }

    // ---- A claim that serves nobody

    /** Looks later whether the claim that waits at the store has to be withdrawn. */
    void dropLater(DeferredActions out) {
        if (!isToDrop) {
            isToDrop = true;
            out.add(() ->
                    resource.partition.context.environment().schedule(LINGER_NANOS, () -> resource.step(this::drop)));
        }
    }

    private void drop(DeferredActions out) {
        isToDrop = false;
        resource.react(out);
    }
}
