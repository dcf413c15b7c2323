package dev.holdfast.store.memory;

import java.util.Comparator;

/** Something with a deadline that can be moved: a session, or a grant with a fixed lease. */
abstract class Expiring {

    /** Earliest deadline first; equal deadlines in order of age. */
    static final Comparator<Expiring> BY_END =
            Comparator.<Expiring>comparingLong(e -> e.endsAt).thenComparingLong(e -> e.number);

    /** Increases with every session and claim: their order of creation. */
    final long number;

    /**
     * In microseconds by the store's clock; expired from that microsecond on. Changed only while it is not in the set
     * of deadlines, which is sorted by it.
     */
    long endsAt;

    Expiring(long number) {
        this.number = number;
    }

    /** The microseconds until it ends; at least one, because each step first drops what has expired. */
    long left(long now) {
        return Math.max(1, endsAt - now);
    }
}
