package dev.holdfast.store.sqlite;

import dev.holdfast.spi.StoreException;
import dev.holdfast.spi.StoreException.Effect;
import dev.holdfast.spi.StoreException.Reason;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;

/**
 * The tables in a file, and their version.
 *
 * <p>A version is {@code major × 1000 + minor}. Minor versions only add, in such a way that older programs go on
 * working beside newer ones; whoever comes with a newer minor version brings the file up to it. Nobody touches a file
 * of another major version.
 */
final class SqliteSchema {

    /** "Hold" in ASCII: how we know our own files. */
    private static final int APPLICATION = 0x486f6c64;

    private static final int MAJOR = 1_000;

    /** What each minor version of the present major one adds, from zero on. */
    static final List<List<String>> VERSIONS = List.of(List.of(
            """
            CREATE TABLE holdfast_meta (
                one INTEGER PRIMARY KEY CHECK (one = 1),
                boot TEXT NOT NULL,           -- the boot of the machine that the times count from
                seen INTEGER NOT NULL,        -- a time that has been
                seen_unix INTEGER NOT NULL,   -- the wall clock at that time
                token_floor INTEGER NOT NULL, -- no token of a resource without a row is above it
                boot_floor INTEGER NOT NULL,  -- no token that was given before this boot is above it
                horizon INTEGER NOT NULL,     -- no token that may not be on the disk yet is above it
                purged INTEGER NOT NULL,      -- the wall clock when idle rows were last looked for
                flushes INTEGER NOT NULL      -- a cell to write for the sake of writing
            ) STRICT""",
            """
            CREATE TABLE holdfast_client (
                id INTEGER PRIMARY KEY,
                pid INTEGER NOT NULL,
                started INTEGER NOT NULL,
                pid_namespace TEXT NOT NULL,
                time_namespace TEXT NOT NULL,
                user TEXT NOT NULL,
                rule INTEGER NOT NULL,       -- 0 this process, 1 the lease only, 2 this process and all that follow it
                followed TEXT NOT NULL       -- pid:started, separated by commas
            ) STRICT""",
            """
            CREATE TABLE holdfast_session (
                id INTEGER PRIMARY KEY,
                client INTEGER NOT NULL,
                ttl INTEGER NOT NULL,
                label TEXT NOT NULL,
                epoch INTEGER NOT NULL,
                deadline INTEGER NOT NULL    -- 0: ended, and kept for its detached grants
            ) STRICT""",
            "CREATE INDEX holdfast_session_client ON holdfast_session (client)",
            """
            CREATE TABLE holdfast_resource (
                name BLOB PRIMARY KEY,
                spec INTEGER NOT NULL,       -- capacity << 16 | order << 8 | kind
                capacity INTEGER NOT NULL,
                last_token INTEGER NOT NULL,
                session INTEGER NOT NULL,    -- the grant that found it free; 0: none
                claim INTEGER NOT NULL,
                weight INTEGER NOT NULL,
                first_token INTEGER NOT NULL,
                end_token INTEGER NOT NULL,
                ends INTEGER NOT NULL,
                seq INTEGER NOT NULL,
                grants INTEGER NOT NULL,     -- how many others, with rows in holdfast_claim
                shared INTEGER NOT NULL,     -- what they weigh
                waiters INTEGER NOT NULL,
                places INTEGER NOT NULL
            ) STRICT, WITHOUT ROWID""",
            "CREATE INDEX holdfast_resource_contended ON holdfast_resource (session) WHERE waiters > 0",
            """
            CREATE TABLE holdfast_claim (
                name BLOB NOT NULL,
                granted INTEGER NOT NULL,
                place INTEGER NOT NULL,
                session INTEGER NOT NULL,
                claim INTEGER NOT NULL,
                binding INTEGER NOT NULL,    -- 0 session, 1 bounded, 2 detached
                wanted INTEGER NOT NULL,
                weight INTEGER NOT NULL,
                ends INTEGER NOT NULL,       -- 0: no lease of its own; below: not yet begun
                seq INTEGER NOT NULL,
                first_token INTEGER NOT NULL,
                end_token INTEGER NOT NULL,
                PRIMARY KEY (name, granted, place)
            ) STRICT, WITHOUT ROWID""",
            "CREATE INDEX holdfast_claim_session ON holdfast_claim (session, claim)",
            """
            CREATE TABLE holdfast_latch (
                name BLOB PRIMARY KEY,
                generation INTEGER NOT NULL,
                remaining INTEGER NOT NULL,
                changed INTEGER NOT NULL     -- the wall clock at the last change
            ) STRICT, WITHOUT ROWID""",
            """
            CREATE TABLE holdfast_count (
                name BLOB NOT NULL,
                id TEXT NOT NULL,
                PRIMARY KEY (name, id)
            ) STRICT, WITHOUT ROWID""",
            // For people with the sqlite3 shell.
            """
            CREATE VIEW holdfast_show AS
            SELECT CAST(r.name AS TEXT) AS name, char(r.spec & 255) AS kind, r.capacity, r.last_token,
                   r.waiters, (r.session <> 0) + r.grants AS holders, s.label AS holder, c.pid
              FROM holdfast_resource r
              LEFT JOIN holdfast_session s ON s.id = r.session
              LEFT JOIN holdfast_client c ON c.id = s.client"""));

    private final List<List<String>> versions;

    SqliteSchema(List<List<String>> versions) {
        this.versions = versions;
    }

    private int present() {
        return MAJOR + versions.size() - 1;
    }

    /**
     * Reads what is there, and changes nothing.
     *
     * @return whether anything has to be made
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
            throw denied("the file " + file + " is a database of another program; it was not touched");
        }
        if (version / MAJOR != present() / MAJOR) {
            throw denied("the file " + file + " has the version " + text(version)
                    + " of the tables, and this program knows " + text(present())
                    + "; stop all programs that use it, and use " + (version > present() ? "a newer" : "an older")
                    + " program, or another file");
        }
        return version < present();
    }

    /** Makes what is missing, inside a transaction that may write. */
    void make(Connection connection, String file) throws SQLException {
        // Somebody else may have made it meanwhile.
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
