package dev.holdfast.store.jdbc.postgres;

import dev.holdfast.sql.database.ConnectionDisposal;
import dev.holdfast.store.jdbc.server.SearchPath;
import dev.holdfast.store.jdbc.server.ServerSchema;
import dev.holdfast.store.ledger.table.SqlTemplates;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** The tables on PostgreSQL, which are created in one transaction. */
final class PostgresSchema extends ServerSchema {

    /**
     * The key of the advisory lock under which tables are created; an arbitrary number that others are unlikely to use.
     */
    private static final long MAKING = 0x686f_6c64_6661_7374L;

    /**
     * The permissions that this user lacks, from the catalogue, because a failed attempt would be an error in the
     * server's log. Its parameters are the schema and the prefix of the table names; {@code $added} is for the tables
     * of version 1.1.
     */
    private static final String LACKING = """
            SELECT string_agg(n.what || ' on ' || n.name, ', ' ORDER BY n.name, n.what), bool_or(n.id IS NULL)
              FROM (SELECT h.prefix || t.name, to_regclass(h.schema || '.' || h.prefix || t.name)::oid, t.what, t.part
                      FROM (SELECT quote_ident(?), ?::text) AS h (schema, prefix),
                           (SELECT t.name, p.what, ''
                              FROM (VALUES ('session'), ('resource'), ('claim'), ('latch')$added) AS t (name),
                                   (VALUES ('SELECT'), ('INSERT'), ('UPDATE'), ('DELETE')) AS p (what)
                            UNION ALL
                            VALUES ('meta', 'SELECT', ''), ('meta', 'UPDATE', 'token_floor'),
                                   ('meta', 'UPDATE', 'purged'), ('count', 'SELECT', ''), ('count', 'INSERT', ''),
                                   ('count', 'DELETE', '')) AS t (name, what, part)) AS n (name, id, what, part)
             WHERE CASE WHEN n.id IS NULL THEN true
                        WHEN n.part = '' THEN NOT has_table_privilege(n.id, n.what)
                        ELSE NOT has_column_privilege(n.id, n.part, n.what) END""";

    /**
     * The schema in which an unqualified table would be created, and whether the search path is the initial one. The
     * initial one, set by the server, the database, the role and the connection's options, is the value that RESET
     * restores.
     */
    private static final String SETTING = """
            SELECT current_schema(), setting = reset_val, reset_val, current_user
              FROM pg_settings WHERE name = 'search_path'""";

    /** The schemas of the search path that have a table, except those of temporary tables. */
    private static final String FOUND = """
            SELECT s.name FROM unnest(current_schemas(false)) WITH ORDINALITY AS s (name, place)
             WHERE EXISTS (SELECT 1 FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
                            WHERE n.nspname = s.name AND c.relname = ? AND c.relkind IN ('r', 'p', 'v', 'f'))
             ORDER BY s.place""";

    PostgresSchema(SqlTemplates templates) {
        super("postgresql", templates);
    }

    /** Where unqualified names lead by the current search path, and by the initial one. */
    static SearchPath searchPath(Connection connection, String table) throws SQLException {
        SearchPath[] found = new SearchPath[1];
        // In one transaction, because a pooler may use another connection for the next one.
        transact(connection, () -> found[0] = readPaths(connection, table));
        return found[0];
    }

    private static SearchPath readPaths(Connection connection, String table) throws SQLException {
        String initial;
        SearchPath.Lookup present;
        String user;
        try (Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(SETTING)) {
            if (!row.next()) {
                throw new SQLException("The connection has no search path");
            }
            user = row.getString(4);
            present = new SearchPath.Lookup(found(connection, table), Optional.ofNullable(row.getString(1)));
            if (row.getBoolean(2)) {
                return new SearchPath(present, user);
            }
            initial = row.getString(3);
        }
        try (PreparedStatement reset = connection.prepareStatement("SELECT set_config('search_path', ?, true)")) {
            reset.setString(1, initial);
            reset.execute();
        }
        Optional<String> first;
        try (Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery("SELECT current_schema()")) {
            first = row.next() ? Optional.ofNullable(row.getString(1)) : Optional.empty();
        }
        return new SearchPath(present, new SearchPath.Lookup(found(connection, table), first), user);
    }

    private static List<String> found(Connection connection, String table) throws SQLException {
        List<String> schemas = new ArrayList<>();
        try (PreparedStatement select = connection.prepareStatement(FOUND)) {
            select.setString(1, table);
            try (ResultSet row = select.executeQuery()) {
                while (row.next()) {
                    schemas.add(row.getString(1));
                }
            }
        }
        return schemas;
    }

    @Override
    public boolean isThere(Connection connection, String table) throws SQLException {
        // Not by to_regclass, whose cache may miss a table that another connection has just created.
        return isTrue(
                connection,
                "SELECT count(*) > 0 FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace"
                        + " WHERE n.nspname = ? AND c.relname = ?",
                templates().schema(),
                templates().bare(table));
    }

    @Override
    public boolean isSchema(Connection connection, String schema) throws SQLException {
        return isTrue(connection, "SELECT count(*) > 0 FROM pg_namespace WHERE nspname = ?", schema);
    }

    @Override
    public boolean mayAddView(Connection connection) throws SQLException {
        return isTrue(
                connection,
                "SELECT has_schema_privilege(oid, 'CREATE') AND current_setting('transaction_read_only') = 'off'"
                        + " FROM pg_namespace WHERE nspname = ?",
                templates().schema());
    }

    @Override
    public void alone(Connection connection, Making making) throws SQLException {
        transact(connection, () -> {
            try (Statement statement = connection.createStatement()) {
                // Longer than other lock waits, because another client may be creating the tables.
                statement.execute("SET LOCAL lock_timeout = '60s'");
                statement.execute("SELECT pg_advisory_xact_lock(" + MAKING + ")");
            }
            making.run();
        });
    }

    private static void transact(Connection connection, Making work) throws SQLException {
        connection.setAutoCommit(false);
        try {
            work.run();
            connection.commit();
        } catch (SQLException | RuntimeException | Error e) {
            try {
                connection.rollback();
                connection.setAutoCommit(true);
            } catch (SQLException | RuntimeException lost) {
                e.addSuppressed(lost);
                // Setting autocommit would commit the active transaction, which ends with the connection instead.
                ConnectionDisposal.discard(connection);
            }
            throw e;
        }
        connection.setAutoCommit(true);
    }

    @Override
    public void requirePermissions(Connection connection, boolean hasAdditions) throws SQLException {
        String lacking = LACKING.replace("$added", hasAdditions ? ", ('annotation'), ('run')" : "");
        try (PreparedStatement select = connection.prepareStatement(lacking)) {
            select.setString(1, templates().schema());
            select.setString(2, templates().bare("holdfast_"));
            try (ResultSet row = select.executeQuery()) {
                String found = row.next() ? row.getString(1) : null;
                if (found != null) {
                    throw denied(
                            row.getBoolean(2)
                                    ? "some of the lock tables are missing (" + found
                                            + "): set initialize=always, or run the script that creates them " + "again"
                                    : "the user lacks permissions that locks need: " + found
                                            + "; docs/stores/postgresql.md lists them");
                }
            }
        }
    }
}
