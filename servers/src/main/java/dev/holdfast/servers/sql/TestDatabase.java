package dev.holdfast.servers.sql;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.holdfast.servers.PostgresServer;
import dev.holdfast.servers.ServerHome;
import java.nio.file.Path;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * A database of each kind for all tests of this JVM. Each test uses its own names.
 */
public enum TestDatabase {
    POSTGRES,

    /** Or MySQL, see {@link MariaDbOrMysql}. */
    MARIADB,

    SQLITE;

    /** The only one that tests are to use, by the system property {@code holdfast.tests.database}; empty for all. */
    private static final String ONLY = System.getProperty("holdfast.tests.database", "");

    private static final AtomicInteger NAMES = new AtomicInteger();

    /** Of a database with nothing in it. */
    public String newUrl() {
        assumeTrue(ONLY.isEmpty() || ONLY.equals(name()), () -> "only " + ONLY + " is tested");
        return switch (this) {
            case POSTGRES -> PostgresServer.shared().newDatabase();
            case MARIADB -> MariaDbOrMysql.shared().newDatabase();
            case SQLITE -> sqliteUrl();
        };
    }

    public boolean isOneLock() {
        return this == SQLITE;
    }

    /** One that no other test has. */
    public static String newName() {
        return "name-" + NAMES.incrementAndGet();
    }

    /** One that no other test has, for a table. */
    public static String newTable() {
        return "order_" + NAMES.incrementAndGet();
    }

    private static String sqliteUrl() {
        Path file = ServerHome.directory("sqlite").resolve("data.db");
        return "jdbc:sqlite:" + file + "?journal_mode=WAL&synchronous=NORMAL";
    }
}
