package dev.holdfast.store.redis;

import dev.holdfast.spi.StoreException;
import dev.holdfast.spi.StoreException.Effect;
import dev.holdfast.spi.StoreException.Reason;
import dev.holdfast.spi.support.DurationFormat;
import dev.holdfast.store.redis.connection.RedisFailures;
import java.time.Duration;

/**
 * How many replicas must have a grant before it counts, and how long that may take.
 *
 * @param count 0 for none
 */
record Replicas(int count, Duration timeout) {

    static final Replicas NONE = new Replicas(0, Duration.ZERO);

    private static final int MOST = 100;

    /** Rejects values out of range. */
    Replicas {
        if (count < 0 || count > MOST) {
            throw new IllegalArgumentException("The number of replicas to wait for is 0 to " + MOST + ", not " + count);
        }
        if (count > 0 && (timeout.toMillis() < 1 || timeout.compareTo(Duration.ofMinutes(1)) > 0)) {
            throw new IllegalArgumentException(
                    "The time to wait for replicas is 1 ms to a minute, not " + DurationFormat.format(timeout));
        }
    }

    /**
     * Whether a keep-alive of such a session can wait for the replicas: it counts as lost after a quarter of the ttl.
     */
    boolean leaveTimeFor(Duration ttl) {
        return !areAsked() || timeout.multipliedBy(4).compareTo(ttl) <= 0;
    }

    boolean areAsked() {
        return count > 0;
    }

    /**
     * The failure if too few replicas have a grant, which was withdrawn. An operator must look into it, unlike after a
     * server's short silence.
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

    /** The failure for a client whose session can't wait for the replicas. */
    StoreException tooSlowFor(Duration ttl) {
        return RedisFailures.denied(
                "this store waits for replicas for up to " + DurationFormat.format(timeout)
                        + ", which is more than a quarter of the session ttl of " + DurationFormat.format(ttl)
                        + ": a keep-alive that waits behind that would be taken as lost; make replicaTimeout shorter,"
                        + " or sessionTtl longer",
                null);
    }
}
