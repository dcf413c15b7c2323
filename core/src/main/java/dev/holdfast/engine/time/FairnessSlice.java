package dev.holdfast.engine.time;

import org.jspecify.annotations.Nullable;

/**
 * A time slice under a grant, in which the thread that was served last, or all that share the grant, are served first.
 * It ends after a time, or when its owner stays away. Not thread-safe: guarded by the lock of the resource.
 */
public final class FairnessSlice {

    private @Nullable Thread owner;
    private boolean isShared;
    private long ends;

    /** The number of requests served under the grant when the head of the queue last checked. */
    private int servedAtCheck;

    /**
     * Notes the request that was served.
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

    /** The slice belongs to all that share from now on. */
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

    /** Whether the slice includes a request: that of its owner, or one that would share. */
    public boolean includes(@Nullable Thread waiter, boolean shares) {
        return isShared ? shares : isOwnedBy(waiter);
    }

    /** The head of the queue begins to check whether the slice has ended. */
    public void beginWatch() {
        servedAtCheck = -1;
    }

    /**
     * Checks for the head of the queue whether the slice has ended, or no request was served since the last check.
     *
     * @param served the number of requests served under the grant so far
     */
    public boolean check(long now, int served) {
        boolean isUnused = isOver(now) || servedAtCheck == served;
        servedAtCheck = served;
        return isUnused;
    }
}
