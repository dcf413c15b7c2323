package dev.holdfast.sql.rows;

import dev.holdfast.sql.database.ConnectionDisposal;
import dev.holdfast.sql.database.LentConnection;
import dev.holdfast.sql.database.UnproxiedDataSource;
import java.sql.Connection;
import java.sql.SQLException;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/** Runs work in a transaction on a borrowed connection, which is returned in its original state. */
final class TransactionTemplate {

    private TransactionTemplate() {}

    /**
     * Work in a transaction.
     *
     * @param <E> what it may throw in addition to {@link SQLException}
     */
    interface Work<T extends @Nullable Object, E extends Exception> {
        T run(Connection connection) throws E, SQLException;
    }

    /** Commits if the work returns, otherwise rolls back. */
    static <T extends @Nullable Object, E extends Exception> T run(DataSource source, Work<T, E> work)
            throws E, SQLException {
        LentConnection lent = LentConnection.forTransactions(UnproxiedDataSource.of(source));
        Connection connection = lent.connection();
        try {
            T result = work.run(connection);
            connection.commit();
            return result;
        } catch (Throwable e) {
            undo(connection, e);
            throw e;
        } finally {
            // After the commit, so a failure here does not matter.
            lent.returnToPool();
        }
    }

    private static void undo(Connection connection, Throwable failure) {
        try {
            connection.rollback();
        } catch (SQLException | RuntimeException | Error e) {
            failure.addSuppressed(e);
            // Setting autocommit would commit the active transaction, which ends with the connection instead.
            ConnectionDisposal.discard(connection);
        }
    }
}
