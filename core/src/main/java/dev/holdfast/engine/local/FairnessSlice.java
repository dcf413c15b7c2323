package dev.holdfast.engine.local;

import dev.holdfast.engine.time.ElapsedClock;
import org.jspecify.annotations.Nullable;

/**
 * Whose turn it is under a grant: of the thread that was served last, or of all who share it; see the resource. Guarded
 * by its lock.
 */
final class FairnessSlice {

    private @Nullable Thread owner;
    private boolean isShared;
    private long ends;

    /** How many had been served under the grant when the head of the queue last looked. */
    int servedAtLook;

    /** Notes who was served. */
    void passTo(Request request, ElapsedClock clock, long nanos) {
        boolean isOwners = request.waiter != null && request.waiter == owner;
        if (!isOwners && !(isShared && request.isShare())) {
            isShared = request.isShare();
            owner = isShared ? null : request.waiter;
            ends = clock.now() + nanos;
        }
    }

    /** From now on it is the turn of all who share. */
    void share(long now, long nanos) {
        isShared = true;
        owner = null;
        ends = now + nanos;
    }

    boolean isShared() {
        return isShared;
    }

    boolean isOver(long now) {
        return (owner == null && !isShared) || now - ends >= 0;
    }

    long ends() {
        return ends;
    }

    boolean isOwnedBy(@Nullable Thread waiter) {
        return waiter != null && waiter == owner;
    }

    /** Whether a request belongs to it. */
    boolean includes(Request request) {
        return isShared ? request.isShare() : isOwnedBy(request.waiter);
    }
}
