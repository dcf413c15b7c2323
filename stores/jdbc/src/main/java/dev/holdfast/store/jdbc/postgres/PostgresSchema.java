package dev.holdfast.store.jdbc.postgres;

import dev.holdfast.sql.database.ConnectionDisposal;
import dev.holdfast.store.jdbc.server.ServerSchema;
import dev.holdfast.store.ledger.table.SqlTemplates;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;

/** The tables on PostgreSQL, where they are made in one transaction. */
final class PostgresSchema extends ServerSchema {

    /** Holds off others that make tables of locks in the same database; any number that nobody else takes. */
    private static final long MAKING = 0x686f_6c64_6661_7374L;

    /** What this user lacks, told by the server without an attempt, which would be an error in its log. */
    private static final String LACKING = """
            SELECT string_agg(n.what || ' on ' || n.name, ', ' ORDER BY n.name, n.what),
                   bool_or(to_regclass(n.name) IS NULL)
              FROM (SELECT t.name, p.what, '' AS part
                      FROM (VALUES ('holdfast_session'), ('holdfast_resource'), ('holdfast_claim'), ('holdfast_latch'))
                               AS t (name),
                           (VALUES ('SELECT'), ('INSERT'), ('UPDATE'), ('DELETE')) AS p (what)
                    UNION ALL
                    VALUES ('holdfast_meta', 'SELECT', ''), ('holdfast_meta', 'UPDATE', 'token_floor'),
                           ('holdfast_meta', 'UPDATE', 'purged'), ('holdfast_count', 'SELECT', ''),
                           ('holdfast_count', 'INSERT', ''), ('holdfast_count', 'DELETE', '')) AS n
             WHERE CASE WHEN to_regclass(n.name) IS NULL THEN true
                        WHEN n.part = '' THEN NOT has_table_privilege(to_regclass(n.name)::oid, n.what)
                        ELSE NOT has_column_privilege(to_regclass(n.name)::oid, n.part, n.what) END""";

    PostgresSchema(SqlTemplates templates) {
        super("postgresql", templates);
    }

    @Override
    public boolean isThere(Connection connection, String table) throws SQLException {
        return isTrue(
                connection, "SELECT to_regclass(?) IS NOT NULL", templates().of(table));
    }

    @Override
    public boolean isSchema(Connection connection, String schema) throws SQLException {
        return isTrue(connection, "SELECT count(*) > 0 FROM pg_namespace WHERE nspname = ?", schema);
    }

    @Override
    public void alone(Connection connection, Making making) throws SQLException {
        connection.setAutoCommit(false);
        try {
            try (Statement statement = connection.createStatement()) {
                // Longer than others wait for locks, for somebody may be making them.
                statement.execute("SET LOCAL lock_timeout = '60s'");
                statement.execute("SELECT pg_advisory_xact_lock(" + MAKING + ")");
            }
            making.run();
            connection.commit();
        } catch (SQLException | RuntimeException | Error e) {
            try {
                connection.rollback();
                connection.setAutoCommit(true);
            } catch (SQLException | RuntimeException lost) {
                e.addSuppressed(lost);
                // To set autocommit would commit what is still under way. It ends with the connection.
                ConnectionDisposal.discard(connection);
            }
            throw e;
        }
        connection.setAutoCommit(true);
    }

    @Override
    public void requirePermissions(Connection connection) throws SQLException {
        try (Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(templates().of(LACKING))) {
            String lacking = row.next() ? row.getString(1) : null;
            if (lacking != null) {
                throw denied(
                        row.getBoolean(2)
                                ? "some of the tables for locks are not there (" + lacking
                                        + "): say initialize=always, or run the file that makes them again"
                                : "the user may not do what locks need, and lacks " + lacking
                                        + "; the manual lists the permissions");
            }
        }
    }
}
