package dev.holdfast.sql.rows;

import java.sql.Connection;
import java.sql.SQLException;
import org.jspecify.annotations.Nullable;

/**
 * Work that is good only if nobody changes the same meanwhile. It may be run several times, each in a transaction of
 * its own that is undone if it was in vain: what it does elsewhere is not.
 *
 * @param <T> what it returns
 * @param <E> what it may throw besides what the database says; {@link RuntimeException} if nothing checked
 */
@FunctionalInterface
public interface VersionedWork<T extends @Nullable Object, E extends Exception> {

    /**
     * Does the work.
     *
     * @param connection that of the transaction; neither committed nor closed by the work
     * @param version what it starts from
     */
    T run(Connection connection, RowVersion version) throws E, SQLException;
}
