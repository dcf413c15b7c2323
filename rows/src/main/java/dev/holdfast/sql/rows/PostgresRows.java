package dev.holdfast.sql.rows;

import dev.holdfast.sql.database.FailureKind;
import dev.holdfast.sql.database.PostgresErrorCodes;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/**
 * Rows on PostgreSQL.
 *
 * <p>A failed statement aborts the transaction and is an error in the server's log. So the first attempt uses SKIP
 * LOCKED, which cannot fail: one statement if the row is free. Only a wait needs a savepoint, and only a time-out
 * fails.
 */
final class PostgresRows extends RowDialect {

    static final PostgresRows INSTANCE = new PostgresRows();

    /**
     * The key of the advisory lock under which tables are created; an arbitrary number that others are unlikely to use.
     */
    private static final long MAKING = 0x686f6c6466617374L; // "holdfast"

    private static final String SAVEPOINT = "holdfast_row";
    private static final long LONGEST_MILLIS = Integer.MAX_VALUE;

    private PostgresRows() {}

    @Override
    String product() {
        return "PostgreSQL";
    }

    @Override
    String scripts() {
        return "postgresql";
    }

    @Override
    void serialiseChanges(Connection connection) throws SQLException {
        execute(connection, "SELECT pg_advisory_xact_lock(" + MAKING + ")");
    }

    @Override
    boolean isThere(Connection connection, String schema, String table) throws SQLException {
        return exists(
                connection,
                "SELECT 1 WHERE to_regclass(?) IS NOT NULL",
                List.of(quoted(schema.isEmpty() ? table : schema + "." + table)));
    }

    @Override
    <T> T lockOwn(Connection connection, NamedRow row, Duration wait, Reading<T> reading) throws SQLException, Busy {
        String table = quoted(row.table());
        String free = "SELECT " + (row.touch().isEmpty() ? row.columns() : "name") + " FROM " + table
                + " WHERE name = ? FOR UPDATE SKIP LOCKED";
        // One statement in both cases, so that it costs one round trip.
        T had = first(
                connection,
                row.touch().isEmpty()
                        ? free
                        : "UPDATE " + table + " SET " + row.touched() + " = " + row.touched() + row.touch()
                                + " WHERE name = (" + free + ") RETURNING " + row.columns(),
                row.key(),
                reading);
        if (had != null) {
            return had;
        }
        if (wait.isZero() && exists(connection, "SELECT 1 FROM " + table + " WHERE name = ?", row.key())) {
            throw new Busy(null);
        }
        // The row is locked or missing, or another transaction is inserting it, which cannot be seen but only waited
        // for.
        return waiting(connection, wait, () -> only(connection, upsert(row), row.key(), reading));
    }

    @Override
    boolean lock(Connection connection, TableRow row, Duration wait) throws SQLException, Busy {
        String query = "SELECT 1 FROM " + quoted(row.table()) + " WHERE "
                + condition(row.key().keySet());
        List<Object> key = new ArrayList<>(row.key().values());
        if (exists(connection, query + " FOR UPDATE SKIP LOCKED", key)) {
            return true;
        }
        if (!exists(connection, query, key)) {
            return false;
        }
        if (wait.isZero()) {
            throw new Busy(null);
        }
        return waiting(connection, wait, () -> exists(connection, query + " FOR UPDATE", key));
    }

    /** A statement that may wait for a lock. */
    private interface Waiting<T> {
        T run() throws SQLException;
    }

    private <T> T waiting(Connection connection, Duration wait, Waiting<T> statement) throws SQLException, Busy {
        String before = begin(connection, wait);
        T answer;
        try {
            answer = statement.run();
        } catch (SQLException | RuntimeException e) {
            undo(connection, e);
            if (kindOf(e) == FailureKind.LOCK_WAIT) {
                throw new Busy(e);
            }
            throw e;
        }
        execute(
                connection,
                "RELEASE SAVEPOINT " + SAVEPOINT + "; SET LOCAL lock_timeout = '" + before.replace("'", "''") + "'");
        return answer;
    }

    /** Reads the present setting, sets a savepoint and changes the setting, in one round trip. */
    private static String begin(Connection connection, Duration wait) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            boolean answers = statement.execute("SELECT current_setting('lock_timeout'); SAVEPOINT " + SAVEPOINT
                    + "; SET LOCAL lock_timeout = " + millis(wait, LONGEST_MILLIS));
            if (answers) {
                try (ResultSet row = statement.getResultSet()) {
                    if (row.next()) {
                        return row.getString(1);
                    }
                }
            }
            throw new SQLException("The server did not return its lock_timeout");
        }
    }

    /** Rolls back to the savepoint, which also restores the setting. */
    private static void undo(Connection connection, Exception failure) {
        try {
            execute(connection, "ROLLBACK TO SAVEPOINT " + SAVEPOINT + "; RELEASE SAVEPOINT " + SAVEPOINT);
        } catch (SQLException e) {
            failure.addSuppressed(e); // the connection is lost, and the transaction with it
        }
    }

    @Override
    String quote() {
        return "\"";
    }

    @Override
    FailureKind kindIn(SQLException failure) {
        return PostgresErrorCodes.kind(failure);
    }
}
