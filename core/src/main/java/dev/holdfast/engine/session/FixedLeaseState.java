package dev.holdfast.engine.session;

import dev.holdfast.Environment;
import dev.holdfast.spi.Lease;
import org.jspecify.annotations.Nullable;

/**
 * The state of a claim's own lease. Few claims have one, so the others don't pay for it. Written under the lock of the
 * resource, except for {@code askedSteps}; the volatile fields are read by anyone.
 */
public final class FixedLeaseState {

    private static final long MAX_NANOS = Long.MAX_VALUE / 4;

    /** What was asked for. */
    final Lease lease;

    /** When it ends; meaningless before the grant. */
    public volatile long deadline;

    /** How many steps of the wall clock had been seen when the newest confirmed request was sent. */
    public volatile long clearedSteps;

    /** How many had been seen when the store was last asked because of a doubt; a race costs one extra poll. */
    volatile long askedSteps;

    /** When the store last confirmed it. */
    volatile long confirmedAt;

    /** Checks whether it has ended; replaced when the end moves. */
    public Environment.@Nullable Timer expiry;

    /** Its length as asked for, or as last extended. */
    public long lengthNanos;

    /** The newest extension. */
    public long extensions;

    /** The newest extension is not answered, and may still take effect. */
    boolean isExtending;

    /** When the newest extension was answered. */
    long extendedAt;

    /** The longest it may last at the store: the length, and each extension that may still take effect, added up. */
    private volatile long allNanos;

    public FixedLeaseState(Lease lease) {
        this.lease = lease;
        this.lengthNanos = lease.length().toNanos();
        this.allNanos = lengthNanos;
    }

    /** What may be at the store now, for the further end of the lease. Called under the lock of the resource. */
    public FixedLeaseState copy() {
        FixedLeaseState copy = new FixedLeaseState(lease);
        copy.lengthNanos = lengthNanos;
        copy.extensions = extensions;
        copy.isExtending = isExtending;
        copy.allNanos = allNanos;
        return copy;
    }

    /** An extension is sent. Called under the lock of the resource. */
    public void extend(long nanos) {
        allNanos = Math.min(allNanos, MAX_NANOS - nanos) + nanos;
        isExtending = true;
    }

    /**
     * The newest extension was answered: older ones can no longer take effect. Called under the lock of the resource.
     *
     * @param sessionGoneAt when the session has surely ended at the store; that may be long ago
     */
    public void extended(long nanos, long now, long sessionGoneAt) {
        lengthNanos = nanos;
        allNanos = Math.max(0, now - sessionGoneAt) + nanos;
        isExtending = false;
        extendedAt = now;
    }

    /**
     * Whether a grant that outlives its session has certainly ended at the store too, whose clock may be slower: it
     * began while the session could still live, and each extension while the grant could.
     */
    boolean isOverBy(long now, long sessionGoneAt) {
        long all = allNanos;
        return now - all - all / 4 - sessionGoneAt > 0;
    }

    /** Whether a lease that began has certainly ended at the store too, even if an extension is in flight. */
    boolean hasEndedAtStore(long now) {
        long longest = isExtending ? allNanos : 0;
        long slowest = Math.max(longest, lengthNanos) / 4;
        return now - deadline - longest > slowest;
    }

    /** Whether a request sent at this time may be answered with the lease before an extension, which may be longer. */
    boolean isOutdated(long sentAt) {
        return isExtending || (extensions > 0 && sentAt - extendedAt < 0);
    }
}
