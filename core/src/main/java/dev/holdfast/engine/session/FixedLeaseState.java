package dev.holdfast.engine.session;

import dev.holdfast.Environment;
import org.jspecify.annotations.Nullable;

/**
 * What is known of the lease of a claim that has one of its own. Few have: kept apart, it costs the others nothing.
 * Written under the lock of the resource, but for {@code askedSteps}; the volatile fields are read by anyone.
 */
public final class FixedLeaseState {

    private static final long MAX_NANOS = Long.MAX_VALUE / 4;

    /** When it ends; meaningless before the grant. */
    public volatile long deadline;

    /** As in the session. */
    public volatile long clearedSteps;

    /** As in the session; a race costs one poll too many. */
    volatile long askedSteps;

    /** When the store last told it. */
    volatile long toldAt;

    /** Looks whether it has ended; set anew when the end moves. */
    public Environment.@Nullable Timer expiry;

    /** Its length as asked for, or as last extended. */
    public long lengthNanos;

    /** The newest extension. */
    public long extensions;

    /** The newest extension is not answered, and may still take effect. */
    boolean isExtending;

    /** When the newest extension was answered. */
    long extendedAt;

    /** All that may be added up at the store, one after the other: the length, and each extension that may yet act. */
    private volatile long allNanos;

    public FixedLeaseState(long lengthNanos) {
        this.lengthNanos = lengthNanos;
        this.allNanos = lengthNanos;
    }

    /** What may be at the store now, for who goes on from there. Called under the lock of the resource. */
    public FixedLeaseState copy() {
        FixedLeaseState copy = new FixedLeaseState(lengthNanos);
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
     * The newest extension was answered: no older one acts any more. Called under the lock of the resource.
     *
     * @param sessionGoneAt when the session has surely ended at the store; it may be long over
     */
    public void extended(long nanos, long now, long sessionGoneAt) {
        lengthNanos = nanos;
        allNanos = Math.max(0, now - sessionGoneAt) + nanos;
        isExtending = false;
        extendedAt = now;
    }

    /**
     * Whether a grant that outlives its session has surely ended at the store too, whose clock may be slower: it began
     * while the session could still live, and each extension while the grant could.
     */
    boolean isOverBy(long now, long sessionGoneAt) {
        long all = allNanos;
        return now - all - all / 4 - sessionGoneAt > 0;
    }

    /** Whether a lease that began has surely ended at the store too, whatever extension is on its way. */
    public boolean isPastBy(long now) {
        long longest = isExtending ? allNanos : 0;
        long slowest = Math.max(longest, lengthNanos) / 4;
        return now - deadline - longest > slowest;
    }

    /** Whether what was asked at some time may tell the lease before an extension, which may have been longer. */
    boolean isOutdated(long sentAt) {
        return isExtending || (extensions > 0 && sentAt - extendedAt < 0);
    }
}
