package dev.holdfast.sql.rows;

import dev.holdfast.sql.database.FailureKind;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.sqlite.SQLiteException;

/**
 * Rows on SQLite, where one transaction writes at a time: locking a row makes the transaction the writer, and so locks
 * all other rows too.
 */
final class SqliteRows extends RowDialect {

    static final SqliteRows INSTANCE = new SqliteRows();

    private static final long LONGEST_MILLIS = Integer.MAX_VALUE;

    private static final int BUSY = 5;
    private static final int BUSY_SNAPSHOT = 5 | 2 << 8;

    private SqliteRows() {}

    @Override
    String product() {
        return "SQLite";
    }

    @Override
    String scripts() {
        return "sqlite";
    }

    @Override
    void serialiseChanges(Connection connection) throws SQLException {
        // The statements that create tables check again whether they exist.
    }

    @Override
    boolean isThere(Connection connection, String schema, String table) throws SQLException {
        return exists(
                connection,
                "SELECT 1 FROM " + (schema.isEmpty() ? "" : quoted(schema) + ".") + "sqlite_master"
                        + " WHERE type = 'table' AND name = ?",
                List.of(table));
    }

    @Override
    <T> T lockOwn(Connection connection, NamedRow row, Duration wait, Reading<T> reading) throws SQLException, Busy {
        return waiting(connection, wait, () -> only(connection, upsert(row), row.key(), reading));
    }

    @Override
    boolean lock(Connection connection, TableRow row, Duration wait) throws SQLException, Busy {
        String table = quoted(row.table());
        return waiting(connection, wait, () -> {
            // Nothing is deleted, and no trigger runs, but this is a write statement.
            int none = update(connection, "DELETE FROM " + table + " WHERE 0");
            assert none == 0;
            return exists(
                    connection,
                    "SELECT 1 FROM " + table + " WHERE " + condition(row.key().keySet()),
                    new ArrayList<>(row.key().values()));
        });
    }

    private <T> T waiting(Connection connection, Duration wait, Setting<T> statement) throws SQLException, Busy {
        Integer before = first(connection, "PRAGMA busy_timeout", List.of(), row -> row.getInt(1));
        String set = "PRAGMA busy_timeout = ";
        try {
            return under(connection, set + (wait.isZero() ? 0 : millis(wait, LONGEST_MILLIS)), set + before, statement);
        } catch (SQLException e) {
            if (kindOf(e) == FailureKind.LOCK_WAIT) {
                throw new Busy(e);
            }
            throw e;
        }
    }

    @Override
    String skipLocked() {
        return "";
    }

    @Override
    String quote() {
        return "`"; // SQLite takes an unknown name in double quotes for a string
    }

    /** A writer blocks all other writers, so a lock-wait time-out is also worth a retry. */
    @Override
    boolean isWorthAnotherTry(Throwable failure) {
        return kindOf(failure) == FailureKind.LOCK_WAIT || super.isWorthAnotherTry(failure);
    }

    @Override
    FailureKind kindIn(SQLException failure) {
        return switch (code(failure)) {
            case BUSY -> FailureKind.LOCK_WAIT;
            case BUSY_SNAPSHOT -> FailureKind.CONFLICT;
            default -> FailureKind.OTHER;
        };
    }

    /** The extended result code, which is only in the driver's own exception. */
    private static int code(SQLException failure) {
        return failure instanceof SQLiteException sqlite ? sqlite.getResultCode().code : failure.getErrorCode();
    }
}
