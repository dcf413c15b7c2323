package dev.holdfast.store.redis;

import dev.holdfast.spi.StoreException;
import dev.holdfast.spi.StoreException.Effect;
import dev.holdfast.spi.StoreException.Reason;
import dev.holdfast.spi.support.DurationFormat;
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
            throw new IllegalArgumentException(
                    "The time to wait for replicas is 1 ms to a minute, not " + DurationFormat.format(timeout));
        }
    }

    /** Whether a keep-alive of such a session can wait for them: it is taken as lost after a quarter of the ttl. */
    boolean leaveTimeFor(Duration ttl) {
        return !areAsked() || timeout.multipliedBy(4).compareTo(ttl) <= 0;
    }

    boolean areAsked() {
        return count > 0;
    }

    /**
     * Too few replicas have a grant, which was withdrawn. A person must look after them, unlike after a server that is
     * silent for a while.
     */
    StoreException missing(String server, long acknowledged, Effect effect) {
        return new StoreException(
                Reason.DENIED,
                effect,
                acknowledged + " of the " + count + " replicas that are waited for acknowledged the grant of " + server
                        + " within " + DurationFormat.format(timeout)
                        + ", so it does not count and was withdrawn; look at the replicas, or wait for fewer",
                null);
    }

    /** A client with such a session can't wait for them. */
    StoreException tooSlowFor(Duration ttl) {
        return new StoreException(
                Reason.DENIED,
                Effect.NONE,
                "this store waits for replicas for up to " + DurationFormat.format(timeout)
                        + ", which is more than a quarter of the session ttl of " + DurationFormat.format(ttl)
                        + ": a keep-alive that waits behind that would be taken as lost; make replicaTimeout shorter,"
                        + " or sessionTtl longer",
                null);
    }
}
