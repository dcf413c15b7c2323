package dev.holdfast.engine.time;

import org.jspecify.annotations.Nullable;

/**
 * Whose turn it is under a grant: of the thread that was served last, or of all who share it. A turn is over after a
 * time, or when its owner stays away. Not thread-safe: guarded by the lock of the resource.
 */
public final class FairnessSlice {

    private @Nullable Thread owner;
    private boolean isShared;
    private long ends;

    /** How many had been served under the grant when the head of the queue last checked. */
    private int servedAtCheck;

    /**
     * Notes who was served.
     *
     * @param waiter the thread; null for a stage
     * @param shares whether it shares the grant with others
     */
    public void passTo(@Nullable Thread waiter, boolean shares, ElapsedClock clock, long nanos) {
        boolean isOwners = waiter != null && waiter == owner;
        if (!isOwners && !(isShared && shares)) {
            isShared = shares;
            owner = shares ? null : waiter;
            ends = clock.now() + nanos;
        }
    }

    /** From now on it is the turn of all who share. */
    public void share(long now, long nanos) {
        isShared = true;
        owner = null;
        ends = now + nanos;
    }

    public boolean isShared() {
        return isShared;
    }

    public boolean isOver(long now) {
        return (owner == null && !isShared) || now - ends >= 0;
    }

    public long ends() {
        return ends;
    }

    public boolean isOwnedBy(@Nullable Thread waiter) {
        return waiter != null && waiter == owner;
    }

    /** Whether a thread that asks again belongs to it, or one who would share. */
    public boolean includes(@Nullable Thread waiter, boolean shares) {
        return isShared ? shares : isOwnedBy(waiter);
    }

    /** The head of the queue begins to check whether the turn before it is over. */
    public void beginWatch() {
        servedAtCheck = -1;
    }

    /**
     * Checks for the head of the queue whether the turn is over, or nobody was served since the last check.
     *
     * @param served how many were served under the grant by now
     */
    public boolean check(long now, int served) {
        boolean isUnused = isOver(now) || servedAtCheck == served;
        servedAtCheck = served;
        return isUnused;
    }
}
