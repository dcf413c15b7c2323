package dev.holdfast.store.redis;

import java.time.Duration;

/**
 * How many replicas must have a grant before it counts, and how long that may take.
 *
 * @param count 0 if none has to
 */
record Replicas(int count, Duration timeout) {

    static final Replicas NONE = new Replicas(0, Duration.ZERO);

    private static final int MOST = 100;

    /** Refuses what can't be meant. */
    Replicas {
        if (count < 0 || count > MOST) {
            throw new IllegalArgumentException("The number of replicas to wait for is 0 to " + MOST + ", not " + count);
        }
        if (count > 0 && (timeout.toMillis() < 1 || timeout.compareTo(Duration.ofMinutes(1)) > 0)) {
            throw new IllegalArgumentException("The time to wait for replicas is 1 ms to a minute, not " + timeout);
        }
    }

    /** Whether a keep-alive of such a session can wait for them: it is taken as lost after a quarter of the ttl. */
    boolean leaveTimeFor(Duration ttl) {
        return !areAsked() || timeout.multipliedBy(4).compareTo(ttl) <= 0;
    }

    boolean areAsked() {
        return count > 0;
    }
}
