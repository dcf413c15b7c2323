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
 * The locks of a database server itself. They belong to a connection, which the owner keeps as long as the lock, and
 * which waits with whoever waits; they write nothing, have no lease, and end with the connection.
 */
public final class SessionLocks {

    public static final Contestant ON_POSTGRESQL = peer(
            Servers.Kind.POSTGRESQL,
            "advisory",
            // It answers nothing, which is not null.
            "SELECT pg_advisory_lock(hashtextextended(?, 0)) IS NOT NULL",
            "SELECT pg_advisory_unlock(hashtextextended(?, 0))");

    public static final Contestant ON_MARIADB =
            peer(Servers.Kind.MARIADB, "get-lock", "SELECT GET_LOCK(?, 3600)", "SELECT RELEASE_LOCK(?)");

    private SessionLocks() {}

    /**
     * Locks by two functions.
     *
     * @param take waits for the lock of a name, and answers true or 1 with it
     * @param giveBack likewise
     */
    private static Contestant peer(Servers.Kind kind, String title, String take, String giveBack) {
        return new Peer(title, place -> {
            HikariDataSource pool = Database.at(kind, place).pool();
            return Contestant.Client.of(
                    name -> PeerMutex.of(
                            () -> {
                                Connection connection = pool.getConnection();
                                ask(connection, take, name);
                                return connection;
                            },
                            connection -> {
                                try (connection) {
                                    ask(connection, giveBack, name);
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
