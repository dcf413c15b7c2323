package dev.holdfast.admin;

import java.util.Optional;

/**
 * The names that an inspection covers, and the size of its pages. Immutable.
 *
 * @param prefix the common prefix of the names, as plain text; empty for all
 * @param cursor the end of the page before, as that page returned it; empty for the first
 * @param limit the most names in a page; a store may return fewer even in one that is not the last
 * @param isWaited whether only names with waiters are listed
 */
public record LockQuery(String prefix, Optional<String> cursor, int limit, boolean isWaited) {

    private static final int DEFAULT_LIMIT = 100;
    private static final int MAX_LIMIT = 10_000;

    /**
     * Checks the limit.
     *
     * @throws IllegalArgumentException if it is not 1 to 10 000
     */
    public LockQuery {
        if (limit < 1 || limit > MAX_LIMIT) {
            throw new IllegalArgumentException("A page may have 1 to " + MAX_LIMIT + " names, not " + limit);
        }
    }

    /** Names with and without waiters. */
    public LockQuery(String prefix, Optional<String> cursor, int limit) {
        this(prefix, cursor, limit, false);
    }

    /** The first hundred of all names. */
    public static LockQuery all() {
        return startingWith("");
    }

    /** The first hundred of the names with a prefix. */
    public static LockQuery startingWith(String prefix) {
        return new LockQuery(prefix, Optional.empty(), DEFAULT_LIMIT);
    }

    /** The same, but only names with waiters: what a live view of queues needs, however many locks are held. */
    public LockQuery onlyWaited() {
        return new LockQuery(prefix, cursor, limit, true);
    }

    /**
     * The same, with pages of another size.
     *
     * @throws IllegalArgumentException if it is not 1 to 10 000
     */
    public LockQuery withLimit(int names) {
        return new LockQuery(prefix, cursor, names, isWaited);
    }

    /** The same, from the end of a page on. */
    public LockQuery after(String cursorOfPage) {
        return new LockQuery(prefix, Optional.of(cursorOfPage), limit, isWaited);
    }
}
