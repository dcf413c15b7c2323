package dev.holdfast.sql.rows;

import dev.holdfast.HoldfastException;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Somebody else has changed what was read. Roll the transaction back: nothing that it has done may be committed. Then
 * read again, and do the work again.
 */
public final class VersionConflictException extends HoldfastException {

    private static final long serialVersionUID = 1L;

    private final RowVersion expected;
    private final @Nullable RowVersion found;

    VersionConflictException(
            String row, String database, RowVersion expected, @Nullable RowVersion found, @Nullable Throwable cause) {
        super(
                "The row of " + row + " is not as it was read: version " + expected + " was expected, and "
                        + (found == null ? "it was changed since" : "it has version " + found) + " (" + database
                        + "). Roll back, read again, and repeat the work.",
                row,
                database,
                cause);
        this.expected = expected;
        this.found = found;
    }

    /** The version that the work was done on. */
    public RowVersion expected() {
        return expected;
    }

    /**
     * The version that is there; empty if the row is gone, or if the database has refused to show it to this
     * transaction.
     */
    public Optional<RowVersion> found() {
        return Optional.ofNullable(found);
    }
}
