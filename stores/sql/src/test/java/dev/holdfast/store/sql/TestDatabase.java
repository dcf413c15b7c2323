package dev.holdfast.store.sql;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.holdfast.servers.PostgresServer;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.SQLException;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * A database of each kind for all tests of this JVM, with the tables for rows in it. Each test takes names of its own.
 */
enum TestDatabase {
    POSTGRES,

    /** Or MySQL, see {@link MariaDbOrMysql}. */
    MARIADB,

    SQLITE;

    /** The only one that tests are to use, by the system property {@code holdfast.tests.database}; empty for all. */
    private static final String ONLY = System.getProperty("holdfast.tests.database", "");

    private static final AtomicInteger NAMES = new AtomicInteger();

    private final Object making = new Object();
    private TestSource source;

    /** With the usual tables. */
    TestSource source() {
        synchronized (making) {
            if (source == null) {
                TestSource made = new TestSource(newUrl());
                try {
                    RowTables.usual().createIfMissing(made);
                } catch (SQLException e) {
                    throw new IllegalStateException(e);
                }
                source = made;
            }
            return source;
        }
    }

    /** Of a database with nothing in it. */
    String newUrl() {
        assumeTrue(ONLY.isEmpty() || ONLY.equals(name()), () -> "only " + ONLY + " is tested");
        return switch (this) {
            case POSTGRES -> PostgresServer.shared().newDatabase();
            case MARIADB -> MariaDbOrMysql.shared().newDatabase();
            case SQLITE -> sqliteUrl();
        };
    }

    boolean isOneLock() {
        return this == SQLITE;
    }

    /** One that no other test has. */
    static String newName() {
        return "name-" + NAMES.incrementAndGet();
    }

    /** One that no other test has, for a table. */
    static String newTable() {
        return "order_" + NAMES.incrementAndGet();
    }

    private static String sqliteUrl() {
        try {
            Path directory = Files.createTempDirectory("holdfast-rows");
            Path file = directory.resolve("data.db");
            directory.toFile().deleteOnExit();
            for (String ending : new String[] {"", "-wal", "-shm"}) {
                Path.of(file + ending).toFile().deleteOnExit();
            }
            return "jdbc:sqlite:" + file + "?journal_mode=WAL&synchronous=NORMAL";
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
