package dev.holdfast.store.jdbc.server;

import dev.holdfast.spi.ResourceName;
import java.util.HashSet;
import java.util.Set;

/**
 * A client's guesses whether names have a row already. A wrong guess costs only a statement.
 *
 * <p>Not thread-safe.
 */
final class KnownRows {

    private static final int MOST = 1_000;

    /** After this many consecutive batches of names without a row, the next batch is expected to be new too. */
    private static final int A_RUN = 2;

    /** Names that had a row when the fast path failed for them, such as those of a contended lock. */
    private final Set<ResourceName> stored = new HashSet<>();

    private int inARow;

    /** Notes that a name has a row. */
    void add(ResourceName name) {
        if (stored.size() >= MOST) {
            stored.clear();
        }
        stored.add(name);
    }

    boolean mayBeNew(ResourceName name) {
        return !stored.contains(name);
    }

    /** Whether the next names are probably new. */
    boolean areNewExpected() {
        return inARow >= A_RUN;
    }

    /** Records a batch, and whether none of its names had a row. */
    void came(boolean allNew) {
        inARow = allNew ? Math.min(inARow + 1, A_RUN) : 0;
    }
}
