package dev.holdfast.store.jdbc.mysql;

import dev.holdfast.spi.StoreException.Effect;
import dev.holdfast.sql.database.ConnectionDisposal;
import dev.holdfast.sql.database.FailureKind;
import dev.holdfast.store.jdbc.server.SearchPath;
import dev.holdfast.store.jdbc.server.ServerSchema;
import dev.holdfast.store.ledger.table.SqlTemplates;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The tables on MySQL and MariaDB, where each CREATE statement is a separate transaction. */
final class MysqlSchema extends ServerSchema {

    private static final String SECONDS = "60";

    private static final int COLUMN_IS_THERE = 1060;

    /** URLs of both drivers, and of drivers that wrap them. */
    private static final Pattern URL = Pattern.compile(
            "jdbc:[^/]*(?:mysql|mariadb)[^/]*://[^/?]*(?:/(?<database>[^/?]*))?(?:\\?.*)?", Pattern.DOTALL);

    /**
     * Statements of all kinds that locks need, none of which matches a row. No other check takes roles and permissions
     * on columns into account.
     */
    private static final List<String> ATTEMPTS = List.of(
            "SELECT version FROM holdfast_meta WHERE 1 = 0",
            "UPDATE holdfast_meta SET token_floor = 0, purged = 0 WHERE 1 = 0",
            "SELECT name, id FROM holdfast_count WHERE 1 = 0",
            "INSERT INTO holdfast_session SELECT * FROM holdfast_session WHERE 1 = 0",
            "INSERT INTO holdfast_resource SELECT * FROM holdfast_resource WHERE 1 = 0",
            "INSERT INTO holdfast_claim SELECT * FROM holdfast_claim WHERE 1 = 0",
            "INSERT INTO holdfast_latch SELECT * FROM holdfast_latch WHERE 1 = 0",
            "INSERT INTO holdfast_count SELECT * FROM holdfast_count WHERE 1 = 0",
            "INSERT INTO holdfast_annotation SELECT * FROM holdfast_annotation WHERE 1 = 0",
            "UPDATE holdfast_annotation SET seq = 0 WHERE 1 = 0",
            "INSERT INTO holdfast_run SELECT * FROM holdfast_run WHERE 1 = 0",
            "UPDATE holdfast_run SET token = 0 WHERE 1 = 0",
            "UPDATE holdfast_session SET epoch = 0 WHERE 1 = 0",
            "UPDATE holdfast_resource SET seq = 0 WHERE 1 = 0",
            "UPDATE holdfast_claim SET seq = 0 WHERE 1 = 0",
            "UPDATE holdfast_latch SET changed = 0 WHERE 1 = 0",
            "DELETE FROM holdfast_session WHERE 1 = 0",
            "DELETE FROM holdfast_resource WHERE 1 = 0",
            "DELETE FROM holdfast_claim WHERE 1 = 0",
            "DELETE FROM holdfast_latch WHERE 1 = 0",
            "DELETE FROM holdfast_annotation WHERE 1 = 0",
            "DELETE FROM holdfast_run WHERE 1 = 0",
            "DELETE FROM holdfast_count WHERE 1 = 0");

    MysqlSchema(SqlTemplates templates) {
        super("mysql", templates);
    }

    /**
     * Where unqualified names lead on a connection: now, and by its URL. A URL without a database counts as none,
     * because the current setting may come from the program.
     */
    static SearchPath searchPath(Connection connection, String table) throws SQLException {
        Optional<String> database;
        boolean isCaseSensitive;
        try (Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery("SELECT DATABASE(), @@lower_case_table_names = 0")) {
            if (!row.next()) {
                throw new SQLException("The connection has no current database");
            }
            database = Optional.ofNullable(row.getString(1));
            isCaseSensitive = row.getBoolean(2);
        }
        SearchPath.Lookup present = find(connection, database, table);
        Matcher url = URL.matcher(String.valueOf(connection.getMetaData().getURL()));
        if (!url.matches()) {
            return new SearchPath(present, "");
        }
        Optional<String> initial = Optional.ofNullable(url.group("database"))
                .filter(text -> !text.isEmpty())
                .map(text -> URLDecoder.decode(text.replace("+", "%2B"), StandardCharsets.UTF_8));
        boolean isSame = isCaseSensitive
                ? initial.equals(database)
                : initial.map(MysqlSchema::lower).equals(database.map(MysqlSchema::lower));
        return isSame ? new SearchPath(present, "") : new SearchPath(present, find(connection, initial, table), "");
    }

    private static String lower(String name) {
        return name.toLowerCase(Locale.ROOT);
    }

    private static SearchPath.Lookup find(Connection connection, Optional<String> database, String table)
            throws SQLException {
        boolean isFound = database.isPresent() && isThere(connection, database.get(), table);
        return new SearchPath.Lookup(isFound ? List.of(database.get()) : List.of(), database);
    }

    @Override
    public boolean isThere(Connection connection, String table) throws SQLException {
        return isThere(connection, templates().schema(), templates().bare(table));
    }

    private static boolean isThere(Connection connection, String schema, String table) throws SQLException {
        return isTrue(
                connection,
                "SELECT count(*) > 0 FROM information_schema.tables WHERE table_schema = ? AND table_name = ?",
                schema,
                table);
    }

    @Override
    public boolean isSchema(Connection connection, String schema) throws SQLException {
        return isTrue(connection, "SELECT count(*) > 0 FROM information_schema.schemata WHERE schema_name = ?", schema);
    }

    /** Under a named lock of the server, because otherwise two clients could add the same column. */
    @Override
    public void alone(Connection connection, Making making) throws SQLException {
        // The name of such a lock has at most 64 characters. MySQL 9 has no SHA1.
        String name = "CONCAT('holdfast ', LEFT(SHA2(CONCAT(?, '.', ?), 256), 40))";
        String schema = templates().schema();
        String table = templates().bare("holdfast_meta");
        if (!isTrue(connection, "SELECT GET_LOCK(" + name + ", " + SECONDS + ")", schema, table)) {
            throw denied("another program has been creating the lock tables for more than " + SECONDS + " s");
        }
        try {
            making.run();
        } catch (SQLException | RuntimeException | Error e) {
            try {
                boolean wasOurs = isTrue(connection, "SELECT RELEASE_LOCK(" + name + ")", schema, table);
                assert wasOurs;
            } catch (SQLException | RuntimeException lost) {
                e.addSuppressed(lost);
                ConnectionDisposal.discard(connection); // and the lock with it
            }
            throw e;
        }
        boolean wasOurs = isTrue(connection, "SELECT RELEASE_LOCK(" + name + ")", schema, table);
        assert wasOurs;
    }

    /**
     * With a statement-based binary log the server rejects writes under READ COMMITTED, because it could not log their
     * order.
     */
    @Override
    public void requireServer(Connection connection) throws SQLException {
        Map<String, String> variables = new HashMap<>();
        try (Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(
                        "SHOW SESSION VARIABLES WHERE variable_name IN ('log_bin', 'sql_log_bin', 'binlog_format')")) {
            while (row.next()) {
                variables.put(row.getString(1), row.getString(2));
            }
        }
        if (variables.equals(Map.of("log_bin", "ON", "sql_log_bin", "ON", "binlog_format", "STATEMENT"))) {
            throw FailureKind.LOGS_STATEMENTS.failure(
                    new SQLException("binlog_format=STATEMENT, error 1665"), Effect.NONE);
        }
    }

    /** MariaDB has syntax to add a column only if it is missing; MySQL does not. */
    @Override
    public void add(Statement statement, String text) throws SQLException {
        try {
            super.add(statement, text);
        } catch (SQLException e) {
            if (e.getErrorCode() != COLUMN_IS_THERE) {
                throw e;
            }
        }
    }

    @Override
    public void requirePermissions(Connection connection, boolean hasAdditions) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            for (String attempt : ATTEMPTS) {
                if (!hasAdditions && ADDED.stream().anyMatch(attempt::contains)) {
                    continue;
                }
                boolean answers = statement.execute(templates().of(attempt));
                assert answers == attempt.startsWith("SELECT");
            }
        }
    }
}
