package dev.holdfast.sql.database;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.OptionalInt;
import javax.sql.DataSource;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A connection lent by a data source, in the state that its borrower needs. It is returned in its original state,
 * because not all pools restore that; if this fails, it is discarded, and its pool does not lend it again. For one
 * thread at a time.
 */
public final class LentConnection {

    private static final Logger LOG = LoggerFactory.getLogger(LentConnection.class);

    /** Reads the isolation of a connection if another one must be set. */
    @FunctionalInterface
    public interface UnfitIsolation {

        /** Requires READ COMMITTED. */
        UnfitIsolation OTHER = lent -> {
            int isolation = lent.getTransactionIsolation();
            return isolation == Connection.TRANSACTION_READ_COMMITTED ? OptionalInt.empty() : OptionalInt.of(isolation);
        };

        /** The connection's isolation; empty if it need not be changed. */
        OptionalInt of(Connection lent) throws SQLException;
    }

    private final Connection connection;
    private final boolean isAutomatic;
    private final boolean wasAutomatic;

    /** The original isolation, if another one was set. */
    private final OptionalInt isolation;

    private LentConnection(Connection connection, boolean isAutomatic, UnfitIsolation unfit) throws SQLException {
        this.connection = connection;
        this.isAutomatic = isAutomatic;
        try {
            this.wasAutomatic = connection.getAutoCommit();
            if (wasAutomatic != isAutomatic) {
                connection.setAutoCommit(isAutomatic);
            }
            this.isolation = unfit.of(connection);
            if (isolation.isPresent()) {
                connection.setTransactionIsolation(Connection.TRANSACTION_READ_COMMITTED);
            }
        } catch (SQLException | RuntimeException | Error e) {
            // Its state is unknown.
            ConnectionDisposal.discard(connection);
            throw e;
        }
    }

    /** Borrows a connection in autocommit mode, on which each statement sees what was committed before. */
    public static LentConnection forStatements(DataSource source, UnfitIsolation unfit) throws SQLException {
        return new LentConnection(source.getConnection(), true, unfit);
    }

    /** Borrows a connection for transactions, with its own isolation. */
    public static LentConnection forTransactions(DataSource source) throws SQLException {
        return new LentConnection(source.getConnection(), false, lent -> OptionalInt.empty());
    }

    public Connection connection() {
        return connection;
    }

    /** Returns it in its original state, or discards it if that fails. */
    public void returnToPool() {
        try {
            restore();
            ConnectionDisposal.close(connection);
        } catch (SQLException e) {
            LOG.debug("a connection could not be restored to the state in which it was lent; it is discarded", e);
            ConnectionDisposal.discard(connection);
        } catch (RuntimeException | Error e) {
            LOG.error("a connection could not be restored to the state in which it was lent; it is discarded", e);
            ConnectionDisposal.discard(connection);
        }
    }

    private void restore() throws SQLException {
        if (isAutomatic && !connection.getAutoCommit()) {
            throw new SQLException("A connection must not be returned in the middle of a transaction", "25001");
        }
        if (isolation.isPresent()) {
            connection.setTransactionIsolation(isolation.getAsInt());
        }
        if (wasAutomatic != isAutomatic) {
            connection.setAutoCommit(wasAutomatic);
        }
    }
}
