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

    /**
     * Notes who was served.
     *
     * @param waiter the thread; null for a stage
     * @param shares whether it shares the grant with others
     */
    void passTo(@Nullable Thread waiter, boolean shares, ElapsedClock clock, long nanos) {
        boolean isOwners = waiter != null && waiter == owner;
        if (!isOwners && !(isShared && shares)) {
            isShared = shares;
            owner = shares ? null : waiter;
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

    /** Whether a thread that asks again belongs to it, or one who would share. */
    boolean includes(@Nullable Thread waiter, boolean shares) {
        return isShared ? shares : isOwnedBy(waiter);
    }
}
