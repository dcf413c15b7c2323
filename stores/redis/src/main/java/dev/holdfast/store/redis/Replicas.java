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
            throw new IllegalArgumentException(
                    "The number of replicas to wait for must be 0 to " + MOST + ", not " + count);
        }
        if (count > 0 && (timeout.toMillis() < 1 || timeout.compareTo(Duration.ofMinutes(1)) > 0)) {
            throw new IllegalArgumentException(
                    "The wait for replicas must be 1 ms to 1 min, not " + DurationFormat.format(timeout));
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
                "only " + acknowledged + " of the required " + count + " replicas acknowledged the grant of " + server
                        + " within " + DurationFormat.format(timeout)
                        + ", so the grant was withdrawn; check the replicas, or lower waitForReplicas",
                null);
    }

    /** The failure for a client whose session can't wait for the replicas. */
    StoreException tooSlowFor(Duration ttl) {
        return RedisFailures.denied(
                "this store waits for replicas for up to " + DurationFormat.format(timeout)
                        + ", which is more than a quarter of the session ttl of " + DurationFormat.format(ttl)
                        + ": a keep-alive queued behind such a wait would count as lost; shorten "
                        + "replicaTimeout, or lengthen sessionTtl",
                null);
    }
}
