package dev.holdfast.sql.rows;

import dev.holdfast.sql.database.FailureKind;
import dev.holdfast.sql.database.MysqlServer;
import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * How rows are locked inside of a transaction that belongs to somebody else, by database. None keeps anything, and all
 * leave the session as they found it.
 */
abstract class RowDialect {

    /** A row could not be locked in time. What the transaction had before, it has. */
    static final class Busy extends Exception {
        private static final long serialVersionUID = 1L;

        Busy(@Nullable Throwable cause) {
            super("busy", cause);
        }
    }

    /** Reads what a statement has answered. */
    interface Reading<T> {
        T read(ResultSet row) throws SQLException;
    }

    /**
     * The one for the database behind a connection.
     *
     * @throws IllegalArgumentException if there is none
     */
    static RowDialect of(Connection connection) throws SQLException {
        DatabaseMetaData data = connection.getMetaData();
        String product = data.getDatabaseProductName();
        return switch (product.toLowerCase(Locale.ROOT)) {
            case "postgresql" -> PostgresRows.INSTANCE;
            case "mariadb", "mysql" ->
                MysqlServer.of(product, data.getDatabaseProductVersion()).isMariaDb()
                        ? MariaDbRows.INSTANCE
                        : MysqlRows.INSTANCE;
            case "sqlite" -> SqliteRows.INSTANCE;
            default ->
                throw new IllegalArgumentException(
                        "Rows can be locked on PostgreSQL, MariaDB, MySQL and SQLite, not on " + product
                                + "; this connection leads there");
        };
    }

    /** For people. */
    abstract String product();

    /** How the file of the tables begins. */
    abstract String scripts();

    /** Holds off others that make the same tables, up to the end of the transaction, where the database needs that. */
    abstract void serialiseChanges(Connection connection) throws SQLException;

    /** Whether there is a table; in the catalogue, so that nothing fails if there is none. */
    abstract boolean isThere(Connection connection, String schema, String table) throws SQLException;

    /**
     * Locks a row of one of our tables, which is made if it isn't there.
     *
     * @param wait zero for not at all
     */
    abstract <T> T lockOwn(Connection connection, NamedRow row, Duration wait, Reading<T> reading)
            throws SQLException, Busy;

    /**
     * Locks a row of theirs.
     *
     * @param wait zero for not at all
     * @return whether there is one
     */
    abstract boolean lock(Connection connection, TableRow row, Duration wait) throws SQLException, Busy;

    /** Deletes rows of one of our tables that no transaction has locked. */
    int deleteUnlocked(Connection connection, String table, int atMost) throws SQLException {
        int deleted = 0;
        for (byte[] name : all(
                connection,
                "SELECT name FROM " + quoted(table) + " ORDER BY name LIMIT " + atMost + skipLocked(),
                row -> row.getBytes(1))) {
            deleted += update(connection, "DELETE FROM " + quoted(table) + " WHERE name = ?", name);
        }
        return deleted;
    }

    /** What is at the end of a query that locks the rows which are not locked, and passes over the others. */
    abstract String skipLocked();

    /** What has to stand around an identifier. */
    abstract String quote();

    /**
     * What is at the end of a query that must see the newest that is committed, and not what the transaction saw at
     * first.
     */
    abstract String newest();

    /** What a statement says that inserts a row or, if there is one with that key, does nothing; from the table on. */
    abstract String insertOrIgnore(String insert);

    /** What one failure means, by its codes. */
    abstract FailureKind kindIn(SQLException failure);

    /** A name with its schema, if it has one. */
    final String quoted(String name) {
        return quote() + name.replace(".", quote() + "." + quote()) + quote();
    }

    /** The condition that tells a row by its columns. */
    final String condition(Collection<String> columns) {
        return String.join(
                " AND ", columns.stream().map(column -> quoted(column) + " = ?").toList());
    }

    /** What a failure means, whatever is wrapped around it. */
    final FailureKind kindOf(Throwable failure) {
        for (Throwable one : FailureKind.chain(failure)) {
            if (one instanceof SQLException sql && kindIn(sql).isBusy()) {
                return kindIn(sql);
            }
        }
        return FailureKind.OTHER;
    }

    /** Whether a transaction failed because of others, and another one may not. */
    boolean isWorthAnotherTry(Throwable failure) {
        return kindOf(failure).isOfTransaction();
    }

    /** A failure in our terms, if it is one of a transaction that can't go on beside others, else as it is. */
    final <F extends Exception> F translated(String row, F failure) {
        FailureKind kind = kindOf(failure);
        if (kind.isOfTransaction()) {
            throw new TransactionConflictException(
                    row,
                    product(),
                    kind == FailureKind.DEADLOCK
                            ? TransactionConflictException.Kind.DEADLOCK
                            : TransactionConflictException.Kind.STALE_SNAPSHOT,
                    failure);
        }
        return failure;
    }

    /**
     * The caller's transaction is what everything here ends with.
     *
     * @throws IllegalStateException if there is none
     */
    static void requireTransaction(Connection connection) throws SQLException {
        if (connection.getAutoCommit()) {
            throw new IllegalStateException(
                    "A row is locked until the end of a transaction, and this connection is in none:"
                            + " it commits each statement by itself. Call setAutoCommit(false), or begin a transaction"
                            + " by the means of your framework, and pass the connection of that transaction");
        }
    }

    /** The answer to a query of at most one row; null if there is none. */
    static <T> @Nullable T first(Connection connection, String sql, List<?> values, Reading<T> reading)
            throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(sql)) {
            bind(statement, values);
            try (ResultSet row = statement.executeQuery()) {
                if (!row.next()) {
                    return null;
                }
                T answer = reading.read(row);
                if (row.next()) {
                    throw new IllegalArgumentException("The key names more than one row; take columns that are unique");
                }
                return answer;
            }
        }
    }

    /** The answer of a statement that writes one row and answers it. */
    static <T> T only(Connection connection, String sql, List<?> values, Reading<T> reading) throws SQLException {
        T answer = first(connection, sql, values, reading);
        if (answer == null) {
            throw new SQLException("No row was answered by: " + sql);
        }
        return answer;
    }

    /** The answers to a query. */
    static <T> List<T> all(Connection connection, String sql, Reading<T> reading) throws SQLException {
        List<T> answer = new ArrayList<>();
        try (Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(sql)) {
            while (row.next()) {
                answer.add(reading.read(row));
            }
        }
        return answer;
    }

    static boolean exists(Connection connection, String sql, List<?> values) throws SQLException {
        return first(connection, sql, values, row -> true) != null;
    }

    static int update(Connection connection, String sql, Object... values) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(sql)) {
            bind(statement, Arrays.asList(values));
            return statement.executeUpdate();
        }
    }

    /** Work under a setting of the session. */
    interface Setting<T> {
        T run() throws SQLException;
    }

    /**
     * Does work under a setting of the session, and restores the one before; if that fails too, the first failure is
     * thrown.
     */
    static <T> T under(Connection connection, String set, String restore, Setting<T> work) throws SQLException {
        execute(connection, set);
        T result;
        try {
            result = work.run();
        } catch (SQLException | RuntimeException | Error e) {
            try {
                execute(connection, restore);
            } catch (SQLException | RuntimeException | Error second) {
                e.addSuppressed(second);
            }
            throw e;
        }
        execute(connection, restore);
        return result;
    }

    static void execute(Connection connection, String sql) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            boolean answers = statement.execute(sql);
            assert answers || statement.getUpdateCount() >= -1;
        }
    }

    /** Never nothing: that means without a bound. */
    static long millis(Duration wait, long longest) {
        if (wait.compareTo(Duration.ofMillis(longest)) >= 0) {
            return longest;
        }
        return Math.max(1, wait.plusNanos(999_999).toMillis());
    }

    private static void bind(PreparedStatement statement, List<?> values) throws SQLException {
        for (int i = 0; i < values.size(); i++) {
            Object value = values.get(i);
            if (value instanceof byte[] bytes) {
                statement.setBytes(i + 1, bytes);
            } else {
                statement.setObject(i + 1, value);
            }
        }
    }
}
