package dev.holdfast.sql.rows;

import dev.holdfast.HoldfastException;

/**
 * This transaction conflicts with others and cannot continue: they have deadlocked, or others have changed data that it
 * has read. Roll it back, and repeat all of it in a new one, which will probably succeed. Do not commit: MariaDB and
 * MySQL have already rolled back its earlier changes, and would commit later ones.
 */
public final class TransactionConflictException extends HoldfastException {

    private static final long serialVersionUID = 1L;

    /** The kind of conflict. */
    public enum Kind {
        /** Transactions waited for each other. */
        DEADLOCK,

        /** The transaction has read outdated data. */
        STALE_SNAPSHOT
    }

    private final Kind kind;

    TransactionConflictException(String row, String database, Kind kind, Throwable cause) {
        super(
                "The transaction can't continue at the row of " + row + ": "
                        + (kind == Kind.DEADLOCK
                                ? "it deadlocked with other transactions"
                                : "other transactions changed data that it has read")
                        + " (" + database + "). Roll back, and repeat the whole transaction.",
                row,
                database,
                cause);
        this.kind = kind;
    }

    /** The kind of conflict. */
    public Kind kind() {
        return kind;
    }
}
