package dev.holdfast.store.register;

import dev.holdfast.spi.StoreTraits;
import java.time.Duration;

/**
 * What a server can do for a register store. Constant.
 *
 * @param product what the server is, for people: "etcd 3.6.4"
 * @param system the product without its version
 * @param clock where time and tokens come from
 * @param minSessionTtl the shortest session: a shorter ttl is lengthened to it
 * @param maxSessionTtl the longest session: a longer ttl is refused
 * @param ttlGranularity ttls are rounded up to a multiple of it
 * @param portableSessions whether a session outlives the connection that opened it, and may be used through any
 * @param orderedListing whether {@link RegisterAdapter#list} goes in the order of the names
 * @param maxStateBytes the largest state that the server takes along with the rest of a write
 * @param maxChanges how many sessions may have mail, how many index entries may change and how many arrivals may be
 *     taken in by one write, together; a step that could admit more claims leaves them to the next one
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
        int maxStateBytes,
        int maxChanges) {

    /** Where time and tokens come from. */
    public enum Clock {
        /**
         * The server tells its wall clock. Tokens follow it, records of names that nobody uses are kept for a while,
         * and steps end fixed leases by it.
         */
        WALL(StoreTraits.TokenSource.CLOCKED),
        /**
         * The server tells no time, but numbers all of its writes and keeps leases: tokens follow these numbers, a
         * record is deleted when nobody uses the name, and each fixed lease is a lease of the server's.
         */
        REVISIONS(StoreTraits.TokenSource.REVISION);

        private final StoreTraits.TokenSource tokenSource;

        Clock(StoreTraits.TokenSource tokenSource) {
            this.tokenSource = tokenSource;
        }

        /** The trait of the store that follows. */
        public StoreTraits.TokenSource tokenSource() {
            return tokenSource;
        }
    }
}
