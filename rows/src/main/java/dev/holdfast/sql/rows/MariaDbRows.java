package dev.holdfast.sql.rows;

import dev.holdfast.sql.database.FailureKind;
import dev.holdfast.sql.database.MysqlErrorCodes;
import java.math.BigDecimal;
import java.math.RoundingMode;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/**
 * Rows on MariaDB, where settings can apply to a single statement.
 *
 * <p>The limit applies to the whole statement, because the one on lock waits is in seconds. It has another advantage:
 * with {@code innodb_rollback_on_timeout} a lock-wait time-out rolls back the whole transaction, and this limit does
 * not.
 */
class MariaDbRows extends RowDialect {

    static final MariaDbRows INSTANCE = new MariaDbRows();

    private static final long LONGEST_MILLIS = Duration.ofDays(300).toMillis();

    private static final int LOCK_WAIT_TIMEOUT = 1205;
    private static final int DEADLOCK = 1213;

    MariaDbRows() {}

    @Override
    String product() {
        return "MariaDB";
    }

    @Override
    final String scripts() {
        return "mysql";
    }

    @Override
    final void serialiseChanges(Connection connection) {
        // A change of tables is a separate transaction there, and safe with concurrent ones.
    }

    @Override
    final boolean isThere(Connection connection, String schema, String table) throws SQLException {
        return exists(
                connection,
                "SELECT 1 FROM information_schema.tables WHERE table_name = ? AND table_schema = "
                        + (schema.isEmpty() ? "DATABASE()" : "?"),
                schema.isEmpty() ? List.of(table) : List.of(table, schema));
    }

    @Override
    <T> T lockOwn(Connection connection, NamedRow row, Duration wait, Reading<T> reading) throws SQLException, Busy {
        // Nothing is read first: under REPEATABLE READ that would take the transaction's snapshot before the lock, and
        // locking a missing row would lock the gap, into which others could then not insert theirs.
        return waiting(
                connection,
                wait,
                prefix -> only(connection, prefix + insert(row) + " RETURNING " + row.columns(), row.key(), reading));
    }

    final String insert(NamedRow row) {
        return "INSERT INTO " + quoted(row.table()) + " (name, " + row.columns() + ") VALUES (?, " + row.initial()
                + ") ON DUPLICATE KEY UPDATE " + row.touched() + " = " + row.touched() + row.touch();
    }

    @Override
    boolean lock(Connection connection, TableRow row, Duration wait) throws SQLException, Busy {
        String query = lockingQuery(row);
        List<Object> key = new ArrayList<>(row.key().values());
        return waiting(connection, wait, prefix -> exists(connection, prefix + query, key));
    }

    final String lockingQuery(TableRow row) {
        return "SELECT 1 FROM " + quoted(row.table()) + " WHERE "
                + condition(row.key().keySet()) + " FOR UPDATE";
    }

    /** A statement that may wait for a lock, with the prefix that it needs. */
    interface Waiting<T> {
        T run(String addition) throws SQLException;
    }

    <T> T waiting(Connection connection, Duration wait, Waiting<T> statement) throws SQLException, Busy {
        try {
            return statement.run(wait.isZero() ? "SET STATEMENT innodb_lock_wait_timeout = 0 FOR " : bound(wait));
        } catch (SQLException e) {
            if (kindOf(e) != FailureKind.LOCK_WAIT) {
                throw e;
            }
            throw busy(connection, e);
        }
    }

    private static String bound(Duration wait) {
        long millis = millis(wait, LONGEST_MILLIS);
        String seconds = BigDecimal.valueOf(millis, 3).toPlainString();
        String longer = BigDecimal.valueOf(millis + 1_000, 3)
                .setScale(0, RoundingMode.CEILING)
                .toPlainString();
        return "SET STATEMENT max_statement_time = " + seconds + ", innodb_lock_wait_timeout = " + longer + " FOR ";
    }

    /** The failure to throw for a lock-wait time-out: a conflict if the server has rolled back the transaction. */
    final Busy busy(Connection connection, SQLException failure) throws SQLException {
        boolean undone = failure.getErrorCode() == LOCK_WAIT_TIMEOUT
                && exists(connection, "SELECT 1 FROM DUAL WHERE @@innodb_rollback_on_timeout", List.of());
        if (undone) {
            throw new SQLException(
                    "The wait for a lock timed out, and the server is configured to roll back the "
                            + "whole transaction in this case (innodb_rollback_on_timeout); roll back, and "
                            + "repeat the whole transaction",
                    "40001",
                    DEADLOCK,
                    failure);
        }
        return new Busy(failure);
    }

    @Override
    final String quote() {
        return "`";
    }

    @Override
    final String newest() {
        return " LOCK IN SHARE MODE";
    }

    @Override
    final String insertOrIgnore(String insert) {
        return "INSERT IGNORE INTO " + insert;
    }

    @Override
    final FailureKind kindIn(SQLException failure) {
        return MysqlErrorCodes.kind(failure);
    }
}
