package dev.holdfast.sql.rows;

import dev.holdfast.HoldfastException;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The row was changed after it was read. Roll the transaction back: nothing that it has done may be committed. Then
 * read again and repeat the work.
 */
public final class VersionConflictException extends HoldfastException {

    private static final long serialVersionUID = 1L;

    private final RowVersion expected;
    private final @Nullable RowVersion found;

    VersionConflictException(
            String row, String database, RowVersion expected, @Nullable RowVersion found, @Nullable Throwable cause) {
        super(
                "The row of " + row + " has changed since it was read: version " + expected + " was expected, but "
                        + (found == null ? "another transaction changed it" : "it has version " + found) + " ("
                        + database + "). Roll back, read again, and repeat the work.",
                row,
                database,
                cause);
        this.expected = expected;
        this.found = found;
    }

    /** The version that the work was based on. */
    public RowVersion expected() {
        return expected;
    }

    /** The present version; empty if the row was deleted, or if the database does not show it to this transaction. */
    public Optional<RowVersion> found() {
        return Optional.ofNullable(found);
    }
}
