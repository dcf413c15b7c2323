package dev.holdfast.store.jdbc.server;

import dev.holdfast.spi.ResourceName;
import java.util.HashSet;
import java.util.Set;

/**
 * A client's guesses whether names have a row already. A wrong guess costs a statement, and no more.
 *
 * <p>Not thread-safe.
 */
final class KnownRows {

    private static final int MOST = 1_000;

    /** After so many in a row that had none, the next one is taken for new as well. */
    private static final int A_RUN = 2;

    /** What had a row when the short way did not do for it, as that of a lock that others share. */
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

    /** Whether what comes is rather new than not. */
    boolean areNewExpected() {
        return inARow >= A_RUN;
    }

    /** Notes of names that came whether none of them had a row. */
    void came(boolean allNew) {
        inARow = allNew ? Math.min(inARow + 1, A_RUN) : 0;
    }
}
