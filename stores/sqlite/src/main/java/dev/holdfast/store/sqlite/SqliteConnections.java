package dev.holdfast.store.sqlite;

import dev.holdfast.spi.StoreException;
import dev.holdfast.spi.StoreException.Effect;
import dev.holdfast.spi.StoreException.Reason;
import dev.holdfast.store.ledger.StoreClock;
import dev.holdfast.store.ledger.table.StatementCache;
import dev.holdfast.store.sqlite.process.HostIdentity;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import org.jspecify.annotations.Nullable;
import org.sqlite.SQLiteConfig;
import org.sqlite.SQLiteJDBCLoader;
import org.sqlite.SQLiteOpenMode;

/** Opens the database of a file and checks that it is ours, and of our version and the current boot. */
final class SqliteConnections {

    /** Pages in the write-ahead log before a commit copies them into the database: limits the log to about 4 MiB. */
    private static final int CHECKPOINT_PAGES = 1_000;

    private static final long LOG_BYTES_MAX = 4L * 1024 * 1024;

    private final SqliteFile file;
    private final SqliteSchema schema;
    private final HostIdentity host;
    private final StoreClock clock;

    SqliteConnections(SqliteFile file, SqliteSchema schema, HostIdentity host, StoreClock clock) {
        this.file = file;
        this.schema = schema;
        this.host = host;
        this.clock = clock;
    }

    /**
     * Loads SQLite's native code, once for all stores.
     *
     * @throws StoreException if that is impossible: hardened systems do not execute files that a program has written
     */
    static void loadNativeCode() {
        try {
            boolean loaded = SQLiteJDBCLoader.initialize();
            assert loaded;
        } catch (Exception | LinkageError e) { // the driver declares no less
            String place = System.getProperty("org.sqlite.tmpdir", System.getProperty("java.io.tmpdir"));
            throw new StoreException(
                    Reason.DENIED,
                    Effect.NONE,
                    "SQLite's native code can't be loaded: the driver unpacks it into " + place
                            + ", which must allow writing and executing files; set the system property "
                            + "org.sqlite.tmpdir to use another directory (" + e.getMessage() + ")",
                    e);
        }
    }

    /**
     * Opens the file.
     *
     * @throws StoreException if it contains something else or cannot be used
     */
    SqliteDatabase open(SqliteOptions options) {
        file.enter();
        try {
            return openEntered(options);
        } catch (RuntimeException | Error e) {
            file.leave();
            throw e;
        }
    }

    private SqliteDatabase openEntered(SqliteOptions options) {
        BusyTimeout busyTimeout = new BusyTimeout(options.busyTimeout());
        while (true) {
            Connection connection = null;
            boolean isAlone = true;
            try {
                if (file.lacksSharedMemory()) {
                    isAlone = false;
                    openAlone();
                    isAlone = true;
                }
                Object sharedMemory = file.sharedMemory();
                connection = options.between().apply(connect());
                boolean isOld = openLog(connection);
                if (!file.isOpenWith(sharedMemory)) {
                    throw new SQLException("the shared memory was replaced", "", SqliteErrorCodes.BUSY);
                }
                setUp(connection, options, isOld);
                SqliteMeta meta = SqliteMeta.read(connection);
                // Records the log, which exists by now.
                file.check();
                StatementCache statements = new StatementCache(connection);
                DiskReserve reserve = new DiskReserve(file, connection);
                reserve.take();
                return new SqliteDatabase(file, connection, statements, host, clock, meta, options, reserve);
            } catch (SQLException e) {
                close(connection);
                StoreException failure = SqliteErrorCodes.translated(e, Effect.NONE, file.path());
                if (!SqliteErrorCodes.isBusy(e)) {
                    throw failure;
                }
                busyTimeout.pause(new SqliteLane.Busy(isAlone ? failure : file.lacksSharedMemoryInUse(), false));
            } catch (DatabaseReplacedException gone) {
                close(connection);
                throw gone.failure();
            } catch (RuntimeException | Error e) {
                close(connection);
                throw e;
            }
        }
    }

    // As an SQLite URI with an encoded path, because the driver reads settings after a question mark in a plain path.
    // Not in the mode that creates a missing file: it would have the wrong permissions, and after a deletion there
    // would be two databases.
    private Connection connect() throws SQLException {
        SQLiteConfig config = new SQLiteConfig();
        config.setBusyTimeout(0);
        config.resetOpenMode(SQLiteOpenMode.CREATE);
        return config.createConnection(
                "jdbc:sqlite:" + file.path().toUri().toString().replaceFirst("^file:/+", "file:///"));
    }

    /**
     * Opens the file exclusively for a moment, without shared memory. It is busy if another process has it open or is
     * doing the same.
     */
    private void openAlone() throws SQLException {
        try (Connection alone = connect()) {
            run(alone, "PRAGMA locking_mode = EXCLUSIVE");
            run(alone, "SELECT count(*) FROM sqlite_schema");
        }
    }

    /** Returns whether tables must be created. */
    private boolean openLog(Connection connection) throws SQLException {
        // In one transaction, because another process may be creating the tables.
        run(connection, "BEGIN");
        boolean isOld = schema.check(connection, file.path().toString());
        run(connection, "COMMIT");
        String mode = text(connection, "PRAGMA journal_mode = WAL");
        if (!mode.equalsIgnoreCase("wal")) {
            throw new StoreException(
                    Reason.DENIED,
                    Effect.NONE,
                    "the file system of " + file.path()
                            + " does not support shared memory between processes, which SQLite needs; use a local disk",
                    null);
        }
        return isOld;
    }

    private void setUp(Connection connection, SqliteOptions options, boolean isOld) throws SQLException {
        run(connection, "PRAGMA synchronous = " + options.synchronous());
        run(connection, "PRAGMA wal_autocheckpoint = " + CHECKPOINT_PAGES);
        run(connection, "PRAGMA journal_size_limit = " + LOG_BYTES_MAX);
        for (String pragma : options.pragmas()) {
            run(connection, "PRAGMA " + pragma);
        }
        if (isOld || SqliteMeta.read(connection).isOfAnotherBoot(host, clock)) {
            // Regardless of the setting, this must be on the disk before anything is granted.
            run(connection, "PRAGMA synchronous = FULL");
            run(connection, "BEGIN IMMEDIATE");
            schema.make(connection, file.path().toString());
            SqliteMeta.create(connection, host, clock);
            SqliteMeta.beginBoot(connection, host, clock);
            run(connection, "COMMIT");
            run(connection, "PRAGMA synchronous = " + options.synchronous());
        }
    }

    private static void run(Connection connection, String sql) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            // Some of these return a row, and some do not.
            boolean answers = statement.execute(sql);
            assert answers || statement.getUpdateCount() >= -1;
        }
    }

    private static String text(Connection connection, String query) throws SQLException {
        try (Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(query)) {
            return row.next() ? row.getString(1) : "";
        }
    }

    private static void close(@Nullable Connection connection) {
        if (connection != null) {
            try {
                connection.close();
            } catch (SQLException alreadyFailing) {
                // The first failure says more.
            }
        }
    }
}
