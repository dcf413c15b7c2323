package dev.holdfast.console;

import java.time.Duration;
import java.time.Instant;

/**
 * What repeated reads show about a lease: whether it is renewed. A lease that was seen with more than two thirds of the
 * session's ttl left is taken for the session's own; one of a fixed length is never "renewed". Where the store does not
 * report the ttl, the longest value seen stands for it. Guarded by the {@link SeenStore}.
 */
final class SeenLease {

    /** What is known of a lease. */
    enum State {
        /** It was extended within a third of its length, as sessions do. */
        RENEWED,
        /** It was not. */
        DRAINING,
        /** It was read too few times to decide. */
        UNKNOWN;

        String word() {
            return name().toLowerCase(java.util.Locale.ROOT);
        }
    }

    /** Delay of keep-alives and polls that is no reason for alarm. */
    private static final Duration TOLERANCE = Duration.ofMillis(1_500);

    private Duration ttl = Duration.ZERO;
    private Duration longest = Duration.ZERO;
    private Duration left = Duration.ZERO;
    private Instant readAt = Instant.EPOCH;
    private boolean extended;
    private boolean ofSession;
    private final boolean isFixed;

    SeenLease() {
        this(false);
    }

    /** @param isFixed whether it is known to be of a fixed length, as those of scheduled tasks are */
    SeenLease(boolean isFixed) {
        this.isFixed = isFixed;
    }

    /** Takes a new value; a ttl of zero is unknown. */
    void read(Duration leaseLeft, Duration sessionTtl, Instant now) {
        if (!longest.isZero() && leaseLeft.compareTo(left) > 0) {
            extended = true;
        }
        longest = longest.compareTo(leaseLeft) > 0 ? longest : leaseLeft;
        if (sessionTtl.multipliedBy(2).compareTo(leaseLeft.multipliedBy(3)) < 0 && longest.compareTo(sessionTtl) <= 0) {
            ofSession = true;
        }
        ttl = sessionTtl;
        left = leaseLeft;
        readAt = now;
    }

    /** What one read shows of the lease of a session that only waits: it is always as long as the session's ttl. */
    static SeenLease ofSession(Duration leaseLeft, Duration sessionTtl, Instant now) {
        SeenLease lease = new SeenLease();
        lease.read(leaseLeft, sessionTtl, now);
        lease.ofSession = !sessionTtl.isZero() && leaseLeft.compareTo(sessionTtl) <= 0;
        return lease;
    }

    /** How much is left at a time, if it is not renewed. */
    Duration left(Instant now) {
        Duration rest = left.minus(Duration.between(readAt, now));
        return rest.isNegative() ? Duration.ZERO : rest;
    }

    Duration length() {
        return ofSession ? ttl : longest;
    }

    /** The time since the last renewal, at least. */
    Duration silence(Instant now) {
        return length().minus(left(now));
    }

    State state() {
        if (isFixed || (!ttl.isZero() && !ofSession)) {
            return State.UNKNOWN;
        }
        Duration length = length();
        if (length.minus(left).compareTo(length.dividedBy(3).plus(TOLERANCE)) > 0) {
            return State.DRAINING;
        }
        return ofSession || extended ? State.RENEWED : State.UNKNOWN;
    }

    /** Whether it has ended by a time, as far as reads that were delayed can tell. */
    boolean endsBy(Instant time) {
        return !readAt.plus(left).isAfter(time.plus(TOLERANCE));
    }
}
