package dev.holdfast.store.memory;

import java.util.Comparator;

/** Something that ends at a moment unless that is moved: a session, or a grant with a lease of its own. */
abstract class Expiring {

    /** The earliest end first; of those that end together, the oldest. */
    static final Comparator<Expiring> BY_END =
            Comparator.<Expiring>comparingLong(e -> e.endsAt).thenComparingLong(e -> e.number);

    /** Rises with every session and claim that the machine makes: the order in which they came. */
    final long number;

    /**
     * In microseconds by the store's clock. At this very moment it is over. Changed only while it is not in the set of
     * deadlines.
     */
    long endsAt;

    Expiring(long number) {
        this.number = number;
    }

    /** The microseconds that are left; at least one, since what is over is dropped before anything looks. */
    long left(long now) {
        return Math.max(1, endsAt - now);
    }
}
