package dev.holdfast.sql.rows;

import dev.holdfast.HoldfastException;
import dev.holdfast.spi.support.DurationFormat;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * Others kept a row locked for the whole maximum wait. The caller's transaction can continue with the locks it had
 * before the call.
 */
public final class RowLockTimeoutException extends HoldfastException {

    private static final long serialVersionUID = 1L;

    private final Duration waited;

    RowLockTimeoutException(String row, String database, Duration waited, @Nullable Throwable cause) {
        super(
                "The row of " + row + " was not locked within " + DurationFormat.format(waited)
                        + ": another transaction holds it (" + database
                        + "). Wait longer, skip the work, or look for a transaction that was left open.",
                row,
                database,
                cause);
        this.waited = waited;
    }

    /** The maximum wait. */
    public Duration waited() {
        return waited;
    }
}
