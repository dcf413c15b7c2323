package dev.holdfast.sql.rows;

import dev.holdfast.sql.database.ConnectionDisposal;
import dev.holdfast.sql.database.LentConnection;
import dev.holdfast.sql.database.UnproxiedDataSource;
import java.sql.Connection;
import java.sql.SQLException;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/**
 * Runs work in a transaction on a connection that is borrowed for it and returned as it was, whatever the pool's
 * default is.
 */
final class TransactionTemplate {

    private TransactionTemplate() {}

    /**
     * What is done in it.
     *
     * @param <E> what it may throw besides what the database says
     */
    interface Work<T extends @Nullable Object, E extends Exception> {
        T run(Connection connection) throws E, SQLException;
    }

    /** Commits if the work returns, else undoes it all. */
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
            // What was to be committed is, whatever becomes of the connection.
            lent.giveBack();
        }
    }

    private static void undo(Connection connection, Throwable failure) {
        try {
            connection.rollback();
        } catch (SQLException | RuntimeException | Error e) {
            failure.addSuppressed(e);
            // To set autocommit would commit what is still under way. It ends with the connection.
            ConnectionDisposal.discard(connection);
        }
    }
}
