package dev.holdfast.engine;

import dev.holdfast.Environment;
import org.jspecify.annotations.Nullable;

/**
 * What is known of the lease of a claim that has one of its own. Few have: kept apart, it costs the others nothing.
 * Written under the lock of the gate, but for {@code askedSteps}; the volatile fields are read by anyone.
 */
final class OwnLease {

    /** When it ends; meaningless before the grant. */
    volatile long deadline;

    /** As in the session. */
    volatile long clearedSteps;

    /** As in the session; a race costs one poll too many. */
    volatile long askedSteps;

    /** Looks whether it has ended; set anew when the end moves. */
    Environment.@Nullable Timer watch;

    /** Its length as asked for, or as last extended. */
    long lengthNanos;

    /** The newest extension. */
    long extensions;

    /** The newest extension is not answered, and may still take effect. */
    boolean isExtending;

    /** When the newest extension was answered. */
    long extendedAt;

    OwnLease(long lengthNanos) {
        this.lengthNanos = lengthNanos;
    }

    /** Whether it has surely ended at the store too, whose clock may be slower. */
    boolean isOverBy(long now) {
        return now - deadline > lengthNanos;
    }

    /** Whether what was asked at some time may tell the lease before an extension, which may have been longer. */
    boolean isOutdated(long sentAt) {
        return isExtending || (extensions > 0 && sentAt - extendedAt < 0);
    }
}
