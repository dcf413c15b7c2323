package dev.holdfast.sql.rows;

import java.sql.Connection;
import java.sql.SQLException;
import org.jspecify.annotations.Nullable;

/**
 * Work that is valid only if nothing else changes its row meanwhile. It may run several times, each in a separate
 * transaction that is rolled back after a conflict; other side effects are not undone.
 *
 * @param <T> what it returns
 * @param <E> what it may throw in addition to {@link SQLException}; {@link RuntimeException} if nothing checked
 */
@FunctionalInterface
public interface VersionedWork<T extends @Nullable Object, E extends Exception> {

    /**
     * Does the work.
     *
     * @param connection the transaction's connection; the work must not commit or close it
     * @param version the version before the work
     */
    T run(Connection connection, RowVersion version) throws E, SQLException;
}
