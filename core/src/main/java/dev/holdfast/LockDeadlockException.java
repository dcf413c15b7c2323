package dev.holdfast;

import java.util.List;

/**
 * The wait was part of a deadlock, and was ended to resolve it, since the client was built with {@link
 * OnDeadlock#FAIL}. The caller has acquired nothing by this call and keeps what it held before. It should release that
 * before it tries again: otherwise the others still wait for it.
 */
public final class LockDeadlockException extends HoldfastException {

    private static final long serialVersionUID = 1L;

    private final Deadlock deadlock;

    /** For the engine. */
    public LockDeadlockException(String resource, String store, Deadlock deadlock) {
        super(
                "Lock '" + resource + "' was not granted: " + deadlock.describe() + " (store " + store
                        + "). Release what this thread holds before it tries again. Acquire these names in one order "
                        + "everywhere, or together with lockAll.",
                resource,
                store,
                null);
        this.deadlock = deadlock;
    }

    /** The cycle. */
    public Deadlock deadlock() {
        return deadlock;
    }

    /** The members of the cycle, in order: each waits for what the next one holds. */
    public List<Deadlock.Member> members() {
        return deadlock.members();
    }
}
