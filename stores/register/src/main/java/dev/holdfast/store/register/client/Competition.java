package dev.holdfast.store.register.client;

import dev.holdfast.Environment;
import dev.holdfast.spi.ResourceName;
import dev.holdfast.spi.StoreException;

/** How a round has fared against the writes of other clients. Not thread-safe, like the round. */
final class Competition {

    /** A round that has lost to other clients for this long fails, without effect. */
    private static final long MOST_NANOS = 60_000_000_000L;

    /** A holder that continues retries this many times without back-off. */
    private static final int MOST_CONFLICTS_AT_ONCE = 3;

    /** The longest pause after a conflict is the time of a write, doubled this many times. */
    private static final int MOST_DOUBLINGS = 8;

    /** The same for a round with announced claims, which other clients are about to add. */
    private static final int MOST_ANNOUNCED_DOUBLINGS = 3;

    private final Environment environment;
    private final ContentionRules rules;
    private final long startedAt;
    private int conflicts;
    private int lostWrites;

    Competition(Context context) {
        this.environment = context.environment();
        this.rules = context.rules();
        this.startedAt = context.now();
    }

    /**
     * Notes a write.
     *
     * @param isLost whether it failed because the record had changed, or would have failed without a peek
     */
    void wrote(boolean isLost) {
        lostWrites += isLost ? 1 : 0;
    }

    /** Whether the claims of the round have lost to other clients too often to compete further. */
    boolean hasLost() {
        return rules.hasLost(lostWrites);
    }

    /**
     * Notes a conflict with a client that writes at present.
     *
     * @throws StoreException without effect, if the round has lost for too long
     */
    void conflicted(ResourceName resource) {
        conflicts++;
        if (environment.monotonicNanos() - startedAt > MOST_NANOS) {
            throw new StoreException(
                    StoreException.Reason.UNAVAILABLE,
                    StoreException.Effect.NONE,
                    "other clients changed the record of lock '" + resource + "' before each of the " + conflicts
                            + " attempts of this client",
                    null);
        }
    }

    int conflicts() {
        return conflicts;
    }

    /** The longest pause after the newest conflict is the time of a write, doubled this many times. */
    int doublings(boolean isAnnounced) {
        return Math.min(conflicts + 1, isAnnounced ? MOST_ANNOUNCED_DOUBLINGS : MOST_DOUBLINGS);
    }

    /** Whether a write for which others wait is repeated without back-off. */
    boolean allowsRetry() {
        return conflicts <= MOST_CONFLICTS_AT_ONCE;
    }
}
