package dev.holdfast.store.register;

import dev.holdfast.spi.StoreTraits;
import java.time.Duration;

/**
 * The capabilities of a server below a register store. Constant.
 *
 * @param product the server, for people: "etcd 3.6.4"
 * @param system the product without its version
 * @param clock the source of time and tokens
 * @param minSessionTtl the shortest session: a shorter ttl is lengthened to it
 * @param maxSessionTtl the longest session: a longer ttl is refused
 * @param ttlGranularity ttls are rounded up to a multiple of it
 * @param portableSessions whether a session outlives the connection that opened it, and may be used through any
 * @param orderedListing whether {@link RegisterAdapter#list} returns the names in order
 * @param callerRuns whether a thread that waits for a write may make the round trip itself
 * @param maxStateBytes the largest state that the server accepts with the rest of a write
 * @param maxChanges the largest sum of mail, changed index entries and removed arrivals in one write; a step that could
 *     grant more claims leaves them to the next one
 */
public record RegisterTraits(
        String product,
        String system,
        Clock clock,
        Duration minSessionTtl,
        Duration maxSessionTtl,
        Duration ttlGranularity,
        boolean portableSessions,
        boolean orderedListing,
        boolean callerRuns,
        int maxStateBytes,
        int maxChanges) {

    /** The source of time and tokens. */
    public enum Clock {
        /**
         * The server reports its wall clock. Tokens follow it, records of unused names are kept for a while, and
         * steps end fixed leases by it.
         */
        WALL(StoreTraits.TokenSource.CLOCKED),
        /**
         * The server has no clock, but numbers all of its writes and keeps leases. Tokens follow these numbers, the
         * record of an unused name is deleted, and each fixed lease is a lease of the server.
         */
        REVISIONS(StoreTraits.TokenSource.REVISION);

        private final StoreTraits.TokenSource tokenSource;

        Clock(StoreTraits.TokenSource tokenSource) {
            this.tokenSource = tokenSource;
        }

        /** The resulting trait of the store. */
        public StoreTraits.TokenSource tokenSource() {
            return tokenSource;
        }
    }
}
