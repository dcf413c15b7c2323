package dev.holdfast.store.sqlite;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import dev.holdfast.spi.StoreException;
import dev.holdfast.spi.StoreException.Effect;
import dev.holdfast.spi.StoreException.Reason;
import dev.holdfast.store.ledger.table.SqlScript;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.AbstractList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The tables in a file, and their version.
 *
 * <p>A version is {@code major × 1000 + minor}. Minor versions only add, and older programs keep working alongside
 * newer ones; a program with a newer minor version upgrades the file. It never touches a file of another major version.
 */
final class SqliteSchema {

    /** "Hold" in ASCII, which identifies our files. */
    private static final int APPLICATION = 0x486f6c64;

    private static final int MAJOR = 1_000;

    /** The statements of each minor version of the current major one, from zero on. */
    static final List<List<String>> VERSIONS =
            List.of(new Script("sqlite-leases-1.0.sql"), new Script("sqlite-leases-1.1.sql"));

    /** The statements of a resource, read on first use: most processes find the tables in place. */
    private static final class Script extends AbstractList<String> {

        private final String name;

        @GuardedBy("this")
        private @Nullable List<String> statements;

        private Script(String name) {
            this.name = name;
        }

        @Override
        public String get(int index) {
            return statements().get(index);
        }

        @Override
        public int size() {
            return statements().size();
        }

        private synchronized List<String> statements() {
            List<String> known = statements;
            if (known == null) {
                known = SqlScript.statements(name, SqliteSchema.class.getResourceAsStream(name));
                statements = known;
            }
            return known;
        }
    }

    private final List<List<String>> versions;

    SqliteSchema(List<List<String>> versions) {
        this.versions = versions;
    }

    private int present() {
        return MAJOR + versions.size() - 1;
    }

    /**
     * Checks the file without changing it.
     *
     * @return whether tables must be created
     * @throws StoreException if it is not ours, or of another major version
     */
    boolean check(Connection connection, String file) throws SQLException {
        int application = number(connection, "PRAGMA application_id");
        int version = number(connection, "PRAGMA user_version");
        boolean isEmpty = number(connection, "SELECT count(*) FROM sqlite_schema") == 0;
        if (isEmpty && application == 0 && version == 0) {
            return true;
        }
        if (application != APPLICATION) {
            throw denied("the file " + file + " is a database of another program; it was not changed");
        }
        if (version / MAJOR != present() / MAJOR) {
            throw denied(
                    "the tables in the file " + file + " have version " + text(version) + ", but this program supports "
                            + text(present()) + "; stop all programs that use the file, and use "
                            + (version > present() ? "a newer" : "an older") + " program, or another file");
        }
        return version < present();
    }

    /** Creates what is missing, inside a transaction that may write. */
    void make(Connection connection, String file) throws SQLException {
        // Another process may have created it meanwhile.
        if (!check(connection, file)) {
            return;
        }
        int version = number(connection, "PRAGMA user_version");
        try (Statement statement = connection.createStatement()) {
            for (int minor = version == 0 ? 0 : version % MAJOR + 1; minor < versions.size(); minor++) {
                for (String change : versions.get(minor)) {
                    statement.executeUpdate(change);
                }
            }
            statement.executeUpdate("PRAGMA application_id = " + APPLICATION);
            statement.executeUpdate("PRAGMA user_version = " + present());
        }
    }

    private static String text(int version) {
        return version / MAJOR + "." + version % MAJOR;
    }

    private static int number(Connection connection, String query) throws SQLException {
        try (Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(query)) {
            return row.next() ? row.getInt(1) : 0;
        }
    }

    private static StoreException denied(String message) {
        return new StoreException(Reason.DENIED, Effect.NONE, message, null);
    }
}
