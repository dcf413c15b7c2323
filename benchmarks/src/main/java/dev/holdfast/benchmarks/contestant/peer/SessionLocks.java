package dev.holdfast.benchmarks.contestant.peer;

import com.zaxxer.hikari.HikariDataSource;
import dev.holdfast.benchmarks.harness.Contestant;
import dev.holdfast.benchmarks.server.Database;
import dev.holdfast.benchmarks.server.Servers;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;

/**
 * The locks of a database server itself. Each belongs to a connection, so every owner and every waiter needs one; they
 * write nothing, have no lease, and end with the connection.
 */
public final class SessionLocks {

    public static final Contestant ON_POSTGRESQL = peer(
            Servers.Kind.POSTGRESQL,
            "advisory",
            // The function returns void, which is not null.
            "SELECT pg_advisory_lock(hashtextextended(?, 0)) IS NOT NULL",
            "SELECT pg_advisory_unlock(hashtextextended(?, 0))");

    public static final Contestant ON_MARIADB =
            peer(Servers.Kind.MARIADB, "get-lock", "SELECT GET_LOCK(?, 3600)", "SELECT RELEASE_LOCK(?)");

    private SessionLocks() {}

    /** Two queries, with the name as their parameter, that return true or 1. */
    private static Contestant peer(Servers.Kind kind, String title, String acquire, String release) {
        return new Peer(title, place -> {
            HikariDataSource pool = Database.at(kind, place).pool();
            return Contestant.Client.of(
                    name -> PeerMutex.of(
                            () -> {
                                Connection connection = pool.getConnection();
                                ask(connection, acquire, name);
                                return connection;
                            },
                            connection -> {
                                try (connection) {
                                    ask(connection, release, name);
                                }
                            }),
                    pool::close);
        });
    }

    private static void ask(Connection connection, String sql, String name) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(sql)) {
            statement.setString(1, name);
            try (ResultSet row = statement.executeQuery()) {
                row.next();
                if (!row.getBoolean(1)) {
                    throw new IllegalStateException("the server did not do it");
                }
            }
        }
    }
}
