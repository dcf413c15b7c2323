package dev.holdfast.sql.rows;

import dev.holdfast.StoreRefusedException;
import dev.holdfast.sql.database.Identifiers;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.sql.DataSource;

/**
 * The tables of {@link RowLocks}, {@link Versioned} and {@link FenceGuard} for names; rows of yours need none. They
 * must be in the database that the program writes to: only then do they protect it.
 *
 * <p>Create them once, with {@link #createIfMissing}, or with your own tool from the file for your database, {@code
 * dev/holdfast/sql/rows/postgresql-rows-1.0.sql}, {@code mysql-rows-1.0.sql} or {@code sqlite-rows-1.0.sql} in this
 * library; then nothing here needs the permission to create tables.
 *
 * <p>Immutable.
 */
public final class RowTables {

    private static final String USUAL_PREFIX = "holdfast_";
    private static final Pattern NAME = Pattern.compile("\\b" + USUAL_PREFIX + "(\\w+)");
    private static final Pattern COMMENT = Pattern.compile("(?m)^--.*$|\\s--\\s.*$");
    private static final int MAJOR = 1_000;
    private static final int VERSION = MAJOR;

    private static final RowTables USUAL = new RowTables("", USUAL_PREFIX);

    private final String schema;
    private final String prefix;

    private RowTables(String schema, String prefix) {
        this.schema = schema;
        this.prefix = prefix;
    }

    /** Tables with the prefix {@code holdfast_} in the default schema. */
    public static RowTables usual() {
        return USUAL;
    }

    /**
     * These tables in a schema with this name; on MariaDB and MySQL it is a database.
     *
     * @throws IllegalArgumentException if the name has characters other than letters, digits and {@code _}
     */
    public RowTables inSchema(String name) {
        return new RowTables(Identifiers.checked(name), prefix);
    }

    /**
     * These tables with another prefix.
     *
     * @param other a lower-case letter or {@code _}, and up to 39 lower-case letters, digits and {@code _}
     * @throws IllegalArgumentException if it does not have that form
     */
    public RowTables withPrefix(String other) {
        return new RowTables(schema, Identifiers.checkedPrefix(other));
    }

    /**
     * Creates missing tables. Several programs may do this at once.
     *
     * @param source lends a connection, which is returned
     */
    public void create(DataSource source) throws SQLException {
        boolean isMade = TransactionTemplate.run(source, connection -> {
            RowDialect dialect = RowDialect.of(connection);
            dialect.serialiseChanges(connection);
            for (String sql :
                    COMMENT.matcher(text(dialect.scripts())).replaceAll("").split(";", -1)) {
                if (!sql.isBlank()) {
                    RowDialect.execute(
                            connection,
                            NAME.matcher(sql)
                                    .replaceAll(
                                            name -> Matcher.quoteReplacement(dialect.quoted(table(name.group(1))))));
                }
            }
            return true;
        });
        assert isMade;
    }

    /**
     * As {@link #create} if {@link #check} would reject the tables as missing or incomplete; otherwise changes nothing.
     */
    public void createIfMissing(DataSource source) throws SQLException {
        if (version(source) < VERSION) {
            create(source);
        }
        check(source);
    }

    /**
     * Checks the tables, and changes nothing.
     *
     * @throws StoreRefusedException if they are missing, or have an unknown version
     */
    public void check(DataSource source) throws SQLException {
        int version = version(source);
        if (version / MAJOR != VERSION / MAJOR || version < VERSION) {
            throw new StoreRefusedException(
                    "The tables " + table("…") + " "
                            + (version == 0 ? "are missing" : "have version " + version / MAJOR + "." + version % MAJOR)
                            + ", but this program needs version " + VERSION / MAJOR + "." + VERSION % MAJOR
                            + (version > VERSION
                                    ? "; use a newer program, or another prefix."
                                    : "; run the script for version 1.0 that this library contains."),
                    "",
                    table("…"),
                    null);
        }
    }

    private int version(DataSource source) throws SQLException {
        return TransactionTemplate.run(source, connection -> {
            RowDialect dialect = RowDialect.of(connection);
            // The catalogue comes first, because a failed query is an error in the server's log.
            if (!dialect.isThere(connection, schema, prefix + "rows_meta")) {
                return 0;
            }
            try (Statement statement = connection.createStatement();
                    ResultSet row =
                            statement.executeQuery("SELECT MAX(version) FROM " + dialect.quoted(table("rows_meta")))) {
                return row.next() ? row.getInt(1) : 0;
            }
        });
    }

    String rowLock() {
        return table("row_lock");
    }

    String version() {
        return table("version");
    }

    String fence() {
        return table("fence");
    }

    private String table(String name) {
        return (schema.isEmpty() ? "" : schema + ".") + prefix + name;
    }

    private static String text(String database) {
        String file = database + "-rows-1.0.sql";
        try (InputStream in = RowTables.class.getResourceAsStream(file)) {
            if (in == null) {
                throw new IllegalStateException("The library is incomplete: no " + file);
            }
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
