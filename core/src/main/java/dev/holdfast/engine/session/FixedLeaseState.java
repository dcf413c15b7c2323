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
    private final Lease lease;

    private volatile long deadline;

    /** How many steps of the wall clock had been seen when the newest confirmed request was sent. */
    private volatile long clearedSteps;

    /** How many had been seen when the store was last asked because of a doubt; a race costs one extra poll. */
    private volatile long askedSteps;

    /** When the store last confirmed it. */
    private volatile long confirmedAt;

    /** Checks whether it has ended; replaced when the end moves. */
    private Environment.@Nullable Timer expiry;

    /** Its length as asked for, or as last extended. */
    private long lengthNanos;

    /** The number of the newest extension. */
    private long extensions;

    /** The newest extension is not answered, and may still take effect. */
    private boolean isExtending;

    /** When the newest extension was answered. */
    private long extendedAt;

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

    Lease lease() {
        return lease;
    }

    /** When it ends; meaningless before the grant. */
    public long deadline() {
        return deadline;
    }

    /** Its length as asked for, or as last extended. */
    long lengthNanos() {
        return lengthNanos;
    }

    // ---- Its end; called under the lock of the resource

    /** Moves the end, in either direction. */
    public void endAt(long newDeadline) {
        deadline = newDeadline;
    }

    /** Moves the end to this time, unless it is earlier. */
    public void endBy(long latest) {
        if (latest - deadline < 0) {
            deadline = latest;
        }
    }

    /** Replaces the check whether it has ended. */
    void checkBy(Environment.Timer check) {
        expiry = check;
    }

    /** Checks no longer whether it has ended. */
    public void stopChecking() {
        if (expiry != null) {
            expiry.cancel();
        }
    }

    // ---- What the store has said

    /** The store has confirmed it. Called under the lock of the resource. */
    void confirm(long now, long stepsWhenSent) {
        confirmedAt = now;
        clearDoubt(stepsWhenSent);
    }

    /** The store has replied to a request that was sent after this number of steps of the wall clock. */
    public void clearDoubt(long stepsWhenSent) {
        clearedSteps = Math.max(clearedSteps, stepsWhenSent);
    }

    /** Whether the wall clock has stepped since the newest confirmed request was sent. */
    boolean inDoubt(long steps) {
        return clearedSteps != steps;
    }

    /** Notes a question because of a doubt; whether there is one that was not asked about. */
    boolean askOnce(long steps) {
        boolean isNew = inDoubt(steps) && askedSteps != steps;
        if (isNew) {
            askedSteps = steps;
        }
        return isNew;
    }

    /** The question because of a doubt failed: it may be asked again. */
    void askAgain() {
        askedSteps = 0;
    }

    /** Whether the store has not confirmed it for this long; if so, a poll begins, which counts as one until then. */
    boolean beginPoll(long now, long interval) {
        boolean isDue = now - confirmedAt >= interval;
        if (isDue) {
            confirmedAt = now;
        }
        return isDue;
    }

    // ---- Extensions

    /** An extension is about to be sent; returns its number. Called under the lock of the resource. */
    public long beginExtension(long nanos) {
        allNanos = Math.min(allNanos, MAX_NANOS - nanos) + nanos;
        isExtending = true;
        return ++extensions;
    }

    /** Whether no later extension was sent. */
    public boolean isNewestExtension(long number) {
        return number == extensions;
    }

    /**
     * The newest extension was answered: older ones can no longer take effect. Called under the lock of the resource.
     *
     * @param sessionGoneAt when the session has surely ended at the store; that may be long ago
     */
    public void endExtension(long nanos, long now, long sessionGoneAt) {
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
