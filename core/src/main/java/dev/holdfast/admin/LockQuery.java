package dev.holdfast.admin;

import java.util.Optional;

/**
 * Which names an inspection is about, and how many of them a page has. Immutable.
 *
 * @param prefix what the names begin with, as plain text; empty for all
 * @param cursor where the page before ended, as that said; empty for the first
 * @param limit the most names of a page; a store may have fewer in one that is not the last
 */
public record LockQuery(String prefix, Optional<String> cursor, int limit) {

    private static final int DEFAULT_LIMIT = 100;
    private static final int MAX_LIMIT = 10_000;

    /**
     * Checks the limit.
     *
     * @throws IllegalArgumentException if it is not 1 to 10 000
     */
    public LockQuery {
        if (limit < 1 || limit > MAX_LIMIT) {
            throw new IllegalArgumentException("A page has 1 to " + MAX_LIMIT + " names, not " + limit);
        }
    }

    /** The first hundred of all names. */
    public static LockQuery all() {
        return startingWith("");
    }

    /** The first hundred of the names that begin so. */
    public static LockQuery startingWith(String prefix) {
        return new LockQuery(prefix, Optional.empty(), DEFAULT_LIMIT);
    }

    /**
     * The same, with so many names in a page.
     *
     * @throws IllegalArgumentException if it is not 1 to 10 000
     */
    public LockQuery withLimit(int names) {
        return new LockQuery(prefix, cursor, names);
    }

    /** The same, from where a page ended. */
    public LockQuery after(String cursorOfPage) {
        return new LockQuery(prefix, Optional.of(cursorOfPage), limit);
    }
}
