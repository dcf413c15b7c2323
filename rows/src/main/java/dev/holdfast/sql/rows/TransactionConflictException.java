package dev.holdfast.sql.rows;

import dev.holdfast.HoldfastException;

/**
 * The database will not let this transaction go on beside others: they waited for each other in a circle, or it has
 * seen a state that others have changed since. Roll it back, and repeat all of it in a new one; that may well succeed.
 * Nothing that it has done so far may be committed: MariaDB and MySQL have undone that already, and would commit what
 * comes after.
 */
public final class TransactionConflictException extends HoldfastException {

    private static final long serialVersionUID = 1L;

    /** What stood in the way. */
    public enum Kind {
        /** Transactions waited for each other in a circle. */
        DEADLOCK,

        /** The transaction has seen what is not so any more. */
        STALE_SNAPSHOT
    }

    private final Kind kind;

    TransactionConflictException(String row, String database, Kind kind, Throwable cause) {
        super(
                "The transaction can't go on at the row of " + row + ": "
                        + (kind == Kind.DEADLOCK
                                ? "it and others waited for each other"
                                : "others have changed what it has seen")
                        + " (" + database + "). Roll it back, and repeat all of it.",
                row,
                database,
                cause);
        this.kind = kind;
    }

    /** What stood in the way. */
    public Kind kind() {
        return kind;
    }
}
