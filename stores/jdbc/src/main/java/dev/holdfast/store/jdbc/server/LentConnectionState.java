package dev.holdfast.store.jdbc.server;

import java.sql.Connection;
import java.sql.SQLException;

/**
 * State of a connection when a pool lent it. What locks change of it is restored before the connection is returned,
 * since not all pools do that. Immutable.
 */
final class LentConnectionState {

    private final boolean isAutomatic;
    private final int isolation;

    private LentConnectionState(boolean isAutomatic, int isolation) {
        this.isAutomatic = isAutomatic;
        this.isolation = isolation;
    }

    /** The state of a connection that was just lent. */
    static LentConnectionState of(Connection lent) throws SQLException {
        return new LentConnectionState(lent.getAutoCommit(), lent.getTransactionIsolation());
    }

    /**
     * Prepares a connection that has this state for locks: each statement commits by itself and sees what was committed
     * before.
     */
    void prepare(Connection lent) throws SQLException {
        if (!isAutomatic) {
            lent.setAutoCommit(true);
        }
        if (isolation != Connection.TRANSACTION_READ_COMMITTED) {
            lent.setTransactionIsolation(Connection.TRANSACTION_READ_COMMITTED);
        }
    }

    /**
     * Restores this state.
     *
     * @param resting a connection that is in no transaction
     */
    void restore(Connection resting) throws SQLException {
        if (!resting.getAutoCommit()) {
            throw new SQLException("A connection is to be returned in the middle of a transaction", "25001");
        }
        if (isolation != Connection.TRANSACTION_READ_COMMITTED) {
            resting.setTransactionIsolation(isolation);
        }
        if (!isAutomatic) {
            resting.setAutoCommit(false);
        }
    }
}
