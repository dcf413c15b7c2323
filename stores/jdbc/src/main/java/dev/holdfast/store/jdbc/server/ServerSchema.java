package dev.holdfast.store.jdbc.server;

import dev.holdfast.spi.ResourceName;
import dev.holdfast.spi.StoreException;
import dev.holdfast.spi.StoreException.Effect;
import dev.holdfast.spi.StoreException.Reason;
import dev.holdfast.store.ledger.table.SqlScript;
import dev.holdfast.store.ledger.table.SqlTemplates;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The tables on a server, and their version.
 *
 * <p>A version is {@code major × 1000 + minor}. A minor version only adds to the previous one, and older programs keep
 * working alongside newer ones. A program works with every later minor version, and needs at least its own, with one
 * exception: without {@linkplain #ADDITIONS what 1.1 adds}, it works without the features of these tables. It never
 * touches tables of another major version.
 *
 * <p>Each version has a file with its additions. Its statements skip what exists already, and the last one records the
 * version.
 */
public abstract class ServerSchema {

    /** The versions that this program knows, oldest first. */
    public static final List<String> VERSIONS = List.of("1.0", "1.1");

    /** The version that only adds tables for annotations and for runs of tasks, which locks don't need. */
    private static final String ADDITIONS = "1.1";

    /** The default names of these tables. */
    protected static final List<String> ADDED = List.of("holdfast_annotation", "holdfast_run");

    /** The class of SQLState for an access rule violation, and for syntax errors. */
    private static final String ACCESS_DENIED = "42";

    /** Which statements of the files run when a store is opened. */
    public enum Creation {
        ALL,

        /** The statements of versions that the tables do not have yet. */
        MISSING,

        NONE
    }

    /** Work on the tables. */
    @FunctionalInterface
    public interface Making {
        void run() throws SQLException;
    }

    /** The location of the files, in the public package. */
    private static final String FILES = "/dev/holdfast/store/jdbc/";

    private static final String VIEW = "holdfast_show";

    private static final Logger LOG = LoggerFactory.getLogger(ServerSchema.class);

    private static final int MAJOR = 1_000;

    private final String product;
    private final SqlTemplates templates;

    /** @param product the prefix of the files: {@code postgresql} or {@code mysql} */
    public ServerSchema(String product, SqlTemplates templates) {
        this.product = product;
        this.templates = templates;
    }

    /**
     * Whether there is a table with this default name; read from the catalogue, because a failed query is an error in
     * the server's log.
     */
    public abstract boolean isThere(Connection connection, String table) throws SQLException;

    /** Whether there is a schema with this name that this user may see. */
    public abstract boolean isSchema(Connection connection, String schema) throws SQLException;

    /**
     * Checks that the server's settings allow writing locks.
     *
     * @throws StoreException if not
     */
    public void requireServer(Connection connection) throws SQLException {
        // Most servers need no check.
    }

    /** Whether to try to create a view; false if the attempt would be an error in the server's log. */
    public boolean mayAddView(Connection connection) throws SQLException {
        return true;
    }

    /** Creates tables under a lock that keeps others from doing so. */
    public abstract void alone(Connection connection, Making making) throws SQLException;

    /**
     * Checks that this user has the permissions that locks need.
     *
     * @param hasAdditions whether there are the {@link #ADDED} tables
     * @throws StoreException if not, or if a table is missing
     * @throws SQLException likewise
     */
    public abstract void requirePermissions(Connection connection, boolean hasAdditions) throws SQLException;

    public final SqlTemplates templates() {
        return templates;
    }

    /**
     * Checks the tables, and creates missing ones if configured and permitted.
     *
     * @param versions those that this program knows, oldest first
     * @return the statements on the tables, {@linkplain SqlTemplates#limitation limited} to those there are
     * @throws StoreException if tables are missing and must not be created, have another version, or this user may not
     *     use them
     */
    public final SqlTemplates prepare(Connection connection, Creation creation, List<String> versions)
            throws SQLException {
        requireServer(connection);
        if (!isSchema(connection, templates.schema())) {
            throw denied(
                    "there is no schema '" + name() + "' that this user can see; Holdfast does not create schemas");
        }
        int present = number(versions.get(versions.size() - 1));
        int found = version(connection);
        requireOurs(found, present);
        boolean isAlways = creation == Creation.ALL;
        if (isAlways || (creation == Creation.MISSING && found < present)) {
            create(connection, found, isAlways, versions);
            found = version(connection);
        }
        requireEnough(found, versions);
        if (creation != Creation.NONE) {
            addView(connection);
        }
        boolean hasAdditions = found >= number(ADDITIONS);
        requirePermissions(connection, hasAdditions);
        return hasAdditions ? templates : templates.limited(limitation(found));
    }

    private void create(Connection connection, int found, boolean isAlways, List<String> versions) throws SQLException {
        int present = number(versions.get(versions.size() - 1));
        try {
            alone(connection, () -> {
                int before = version(connection);
                requireOurs(before, present);
                for (String one : versions) {
                    if (isAlways || number(one) > before) {
                        run(connection, one);
                    }
                }
            });
        } catch (SQLException e) {
            boolean isLimited = isEnough(found, versions) && found < number(ADDITIONS);
            if (!isLimited || !String.valueOf(e.getSQLState()).startsWith(ACCESS_DENIED)) {
                throw e;
            }
            LOG.debug("this user can't create the tables of version {}", ADDITIONS, e);
        }
    }

    /** Adds the view for people. No program depends on it, so a failure is only logged. */
    private void addView(Connection connection) {
        try {
            if (!isThere(connection, VIEW) && mayAddView(connection)) {
                alone(connection, () -> {
                    if (!isThere(connection, VIEW)) {
                        runView(connection);
                    }
                });
            }
        } catch (SQLException | StoreException e) {
            LOG.debug("the view {} can't be created; locks don't need it", templates.of(VIEW), e);
        }
    }

    /** Creates the view. CREATE OR REPLACE would need one more permission. */
    private void runView(Connection connection) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            for (String one : read(product + "-show-1.0.sql")) {
                add(statement, one.replaceFirst("CREATE OR REPLACE", "CREATE"));
            }
        }
    }

    /** The schema, for people. */
    private String name() {
        return ResourceName.printable(templates.schema());
    }

    private static void requireOurs(int found, int present) {
        if (found != 0 && found / MAJOR != present / MAJOR) {
            throw denied("the lock tables have version " + text(found) + ", but this program supports " + text(present)
                    + "; nothing was changed. Use " + (found > present ? "a newer" : "an older")
                    + " program, or another prefix");
        }
    }

    /** Whether locks work with tables of this version. */
    private static boolean isEnough(int found, List<String> versions) {
        return found != 0
                && versions.stream().filter(one -> number(one) > found).allMatch(ADDITIONS::equals);
    }

    /** What tables without the additions lack, and the remedy. */
    private String limitation(int found) {
        return "the lock tables have version " + text(found) + ", without messages, deadlocks of several processes and"
                + " runs of tasks: run " + file(ADDITIONS) + " and the grants on its tables, then restart";
    }

    private void requireEnough(int found, List<String> versions) {
        if (!isEnough(found, versions)) {
            List<String> missing = versions.stream()
                    .filter(one -> number(one) > found)
                    .map(this::file)
                    .toList();
            throw denied("the lock tables "
                    + (found == 0
                            ? "are missing or incomplete in the schema '" + name() + "'"
                            : "have version " + text(found))
                    + ", and initialize=never forbids creating them. Run " + String.join(", then ", missing)
                    + " first");
        }
    }

    /** The version of the tables; 0 if there are none or their creation was not completed. */
    private int version(Connection connection) throws SQLException {
        if (!isThere(connection, "holdfast_meta")) {
            return 0;
        }
        try (Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(templates.of("SELECT version FROM holdfast_meta"))) {
            return row.next() ? row.getInt(1) : 0;
        }
    }

    private void run(Connection connection, String version) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            for (String one : statements(version)) {
                add(statement, one);
            }
        }
    }

    /** Executes one statement of a file, which skips what exists already. */
    public void add(Statement statement, String text) throws SQLException {
        boolean answers = statement.execute(text);
        assert !answers;
    }

    /** The statements of a version, with the actual table names. */
    public final List<String> statements(String version) {
        return read(file(version));
    }

    private List<String> read(String file) {
        String name = FILES + file;
        return SqlScript.statements(name, ServerSchema.class.getResourceAsStream(name)).stream()
                .map(templates::of)
                .toList();
    }

    private String file(String version) {
        return product + "-leases-" + version + ".sql";
    }

    private static int number(String version) {
        int dot = version.indexOf('.');
        return Integer.parseInt(version.substring(0, dot)) * MAJOR + Integer.parseInt(version.substring(dot + 1));
    }

    private static String text(int version) {
        return version / MAJOR + "." + version % MAJOR;
    }

    public static boolean isTrue(Connection connection, String query, String... values) throws SQLException {
        try (var select = connection.prepareStatement(query)) {
            for (int i = 0; i < values.length; i++) {
                select.setString(i + 1, values[i]);
            }
            try (ResultSet row = select.executeQuery()) {
                return row.next() && row.getBoolean(1);
            }
        }
    }

    public static StoreException denied(String message) {
        return new StoreException(Reason.DENIED, Effect.NONE, message, null);
    }
}
