package dev.holdfast.sql.rows;

import dev.holdfast.sql.database.FailureKind;
import dev.holdfast.sql.database.MysqlVariant;
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

/** Locks rows inside the caller's transaction, by product. Implementations leave the session's settings unchanged. */
abstract class RowDialect {

    /** A row could not be locked in time. The transaction keeps its earlier locks. */
    static final class Busy extends Exception {
        private static final long serialVersionUID = 1L;

        Busy(@Nullable Throwable cause) {
            super("busy", cause);
        }
    }

    /** Reads a row of a result. */
    interface Reading<T> {
        T read(ResultSet row) throws SQLException;
    }

    /**
     * The dialect of a connection's database.
     *
     * @throws IllegalArgumentException if the product is not supported
     */
    static RowDialect of(Connection connection) throws SQLException {
        DatabaseMetaData data = connection.getMetaData();
        String product = data.getDatabaseProductName();
        return switch (product.toLowerCase(Locale.ROOT)) {
            case "postgresql" -> PostgresRows.INSTANCE;
            case "mariadb", "mysql" ->
                MysqlVariant.of(product, data.getDatabaseProductVersion()).isMariaDb()
                        ? MariaDbRows.INSTANCE
                        : MysqlRows.INSTANCE;
            case "sqlite" -> SqliteRows.INSTANCE;
            default ->
                throw new IllegalArgumentException(
                        "Rows can be locked on PostgreSQL, MariaDB, MySQL and SQLite, but this "
                                + "connection leads to " + product);
        };
    }

    /** The name of the product. */
    abstract String product();

    /** The prefix of the file that creates the tables. */
    abstract String scripts();

    /** Excludes others that create the same tables until the end of the transaction, if the database needs that. */
    abstract void serialiseChanges(Connection connection) throws SQLException;

    /** Whether a table exists; read from the catalogue, so that no statement fails. */
    abstract boolean isThere(Connection connection, String schema, String table) throws SQLException;

    /**
     * Locks a row of one of our tables, and inserts it if it is missing.
     *
     * @param wait zero to not wait
     */
    abstract <T> T lockOwn(Connection connection, NamedRow row, Duration wait, Reading<T> reading)
            throws SQLException, Busy;

    /**
     * Locks a row of a table of the program.
     *
     * @param wait zero to not wait
     * @return whether the row exists
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

    /** The suffix of a query that locks the free rows and skips the others. */
    String skipLocked() {
        return " FOR UPDATE SKIP LOCKED";
    }

    /** The quotation mark of identifiers. */
    abstract String quote();

    /** The suffix of a query that must see the newest committed data instead of the transaction's snapshot. */
    String newest() {
        return "";
    }

    /** A statement that inserts a row unless there is one with its key; the parameter is its text from the table on. */
    String insertOrIgnore(String insert) {
        return "INSERT INTO " + insert + " ON CONFLICT DO NOTHING";
    }

    /** Inserts a row or, if it exists, touches it, and returns it; in the syntax of PostgreSQL and SQLite. */
    final String upsert(NamedRow row) {
        return "INSERT INTO " + quoted(row.table()) + " AS r (name, " + row.columns() + ") VALUES (?, " + row.initial()
                + ") ON CONFLICT (name) DO UPDATE SET " + row.touched() + " = r." + row.touched() + row.touch()
                + " RETURNING " + row.columns();
    }

    /** The kind of a failure, by its codes. */
    abstract FailureKind kindIn(SQLException failure);

    /** A name with its schema, if it has one. */
    final String quoted(String name) {
        return quote() + name.replace(".", quote() + "." + quote()) + quote();
    }

    /** The condition that selects a row by these columns. */
    final String condition(Collection<String> columns) {
        return String.join(
                " AND ", columns.stream().map(column -> quoted(column) + " = ?").toList());
    }

    /** The kind of a failure, even if it is wrapped. */
    final FailureKind kindOf(Throwable failure) {
        for (Throwable one : FailureKind.chain(failure)) {
            if (one instanceof SQLException sql && kindIn(sql).isBusy()) {
                return kindIn(sql);
            }
        }
        return FailureKind.OTHER;
    }

    /** Whether the transaction failed because of others, so that a retry may succeed. */
    boolean isWorthAnotherTry(Throwable failure) {
        return kindOf(failure).isOfTransaction();
    }

    /** Throws our exception if the failure is a conflict with other transactions; otherwise returns it. */
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
     * Checks that the connection is in a transaction.
     *
     * @throws IllegalStateException if not
     */
    static void requireTransaction(Connection connection) throws SQLException {
        if (connection.getAutoCommit()) {
            throw new IllegalStateException("A row lock lasts until the end of the transaction, but this connection "
                    + "commits each statement (auto-commit). Call setAutoCommit(false), or begin a "
                    + "transaction with your framework and pass its connection");
        }
    }

    /** The result of a query for at most one row; null if there is none. */
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
                    throw new IllegalArgumentException("The key matches more than one row; use unique columns");
                }
                return answer;
            }
        }
    }

    /** The result of a statement that writes one row and returns it. */
    static <T> T only(Connection connection, String sql, List<?> values, Reading<T> reading) throws SQLException {
        T answer = first(connection, sql, values, reading);
        if (answer == null) {
            throw new SQLException("No row was returned by: " + sql);
        }
        return answer;
    }

    /** All results of a query. */
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

    /** Work with a session setting. */
    interface Setting<T> {
        T run() throws SQLException;
    }

    /**
     * Does work with a session setting, and restores the previous one; if that fails too, the first failure is thrown.
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

    /** The wait in milliseconds, at least 1, because 0 means no limit. */
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
