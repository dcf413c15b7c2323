package dev.holdfast.store.jdbc;

import dev.holdfast.spi.StoreException;
import dev.holdfast.spi.StoreException.Effect;
import dev.holdfast.spi.StoreException.Reason;
import dev.holdfast.sql.database.FailureKind;
import dev.holdfast.sql.database.MysqlVariant;
import dev.holdfast.store.jdbc.mysql.MysqlProduct;
import dev.holdfast.store.jdbc.postgres.PostgresProduct;
import dev.holdfast.store.jdbc.server.Product;
import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import org.jspecify.annotations.Nullable;
import org.postgresql.PGConnection;
import org.postgresql.jdbc.PreferQueryMode;

/** Detects the product of a connection's server. */
final class Products {

    /** The name of the PostgreSQL project's driver, which wrappers report too. */
    private static final String JOINING = "PostgreSQL JDBC Driver";

    private Products() {}

    /**
     * The product behind a connection.
     *
     * @param clock another clock for tests, or null
     * @param prefix the prefix of the table names
     * @throws StoreException if it is unknown or too old
     */
    static Product of(Connection connection, @Nullable String clock, String prefix) throws SQLException {
        DatabaseMetaData data = connection.getMetaData();
        String name = data.getDatabaseProductName();
        String version = data.getDatabaseProductVersion();
        int major = data.getDatabaseMajorVersion();
        if (name.equals("PostgreSQL")) {
            require(major >= 12, name, version, "PostgreSQL 12");
            return new PostgresProduct(
                    "PostgreSQL " + version,
                    clock == null ? PostgresProduct.CLOCK : clock,
                    prefix,
                    data.getDriverName().equals(JOINING) && !isSimple(connection));
        } else if (MysqlVariant.isNamed(name)) {
            return mysql(connection, MysqlVariant.of(name, version), clock);
        }
        throw new StoreException(
                Reason.DENIED,
                Effect.NONE,
                "Holdfast supports PostgreSQL, MySQL, MariaDB and SQLite, but not " + name + " " + version,
                null);
    }

    /**
     * Whether the driver sends statements of one text as one message, so that all see the time at which the first
     * began, before it waited for a row.
     */
    private static boolean isSimple(Connection connection) {
        try {
            return connection.unwrap(PGConnection.class).getPreferQueryMode() == PreferQueryMode.SIMPLE;
        } catch (SQLException | LinkageError e) {
            return false; // another class loader's driver: extended, unless the program asked for the other
        }
    }

    /** @param greeting the version that the server reported when it was connected to; a proxy may report another one */
    private static Product mysql(Connection connection, MysqlVariant greeting, @Nullable String clock)
            throws SQLException {
        MysqlVariant server = greeting;
        try (Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery("SELECT VERSION()")) {
            if (row.next()) {
                server = MysqlVariant.of(greeting.isMariaDb() ? "MariaDB" : "MySQL", row.getString(1));
            }
        }
        String name = server.name();
        int major = server.major();
        if (server.isMariaDb()) {
            require(major > 10 || (major == 10 && server.minor() >= 6), name, server.version(), "MariaDB 10.6");
        } else {
            require(major >= 8, name, server.version(), "MySQL 8.0");
        }
        return new MysqlProduct(server, clock == null ? MysqlProduct.CLOCK : clock);
    }

    private static void require(boolean isNewEnough, String name, String version, String least) {
        if (!isNewEnough) {
            throw new StoreException(
                    Reason.DENIED,
                    Effect.NONE,
                    "the database is " + name + " " + version + ", but Holdfast needs " + least + " or newer",
                    null);
        }
    }

    /** The failure if no connection could be opened, or the first one failed before anything was done. */
    static StoreException failedToOpen(SQLException failure) {
        FailureKind kind = FailureKind.whileConnecting(failure);
        return kind.reason() == Reason.UNAVAILABLE
                ? new StoreException(
                        Reason.UNAVAILABLE,
                        Effect.NONE,
                        "the database can't be reached or used: " + failure.getMessage(),
                        failure)
                : kind.failure(failure, Effect.NONE);
    }
}
