package dev.holdfast.benchmarks.contestant.peer;

import dev.holdfast.benchmarks.harness.Contestant;
import dev.holdfast.benchmarks.server.Database;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Statement;

/**
 * What one would write by hand: a row for each lock in a SQLite file, acquired and released by one statement each, on
 * one connection. It has no sessions, no queue and no tokens, and serves one thread only, to show what those cost.
 */
public final class ByHand {

    public static final Contestant FULL = lock("by-hand-full", "FULL");
    public static final Contestant NORMAL = lock("by-hand-normal", "NORMAL");

    private static final long OWNER = 1;

    private ByHand() {}

    private static Contestant lock(String title, String synchronous) {
        return new Peer(title, place -> {
            try {
                Connection connection = DriverManager.getConnection("jdbc:sqlite:" + place.resolve("by-hand.db"));
                try (Statement statement = connection.createStatement()) {
                    statement.execute("PRAGMA journal_mode = WAL");
                    statement.execute("PRAGMA synchronous = " + synchronous);
                    statement.execute("CREATE TABLE lock (name BLOB PRIMARY KEY, owner INTEGER,"
                            + " token INTEGER NOT NULL) WITHOUT ROWID");
                }
                return Contestant.Client.of(name -> mutex(connection, name), () -> Database.close(connection));
            } catch (SQLException e) {
                throw new IllegalStateException(e);
            }
        });
    }

    private static Contestant.Mutex mutex(Connection connection, String name) {
        byte[] key = name.getBytes(StandardCharsets.UTF_8);
        try (PreparedStatement insert =
                connection.prepareStatement("INSERT INTO lock (name, owner, token) VALUES (?, NULL, 0)")) {
            insert.setBytes(1, key);
            insert.executeUpdate();
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
        PreparedStatement acquire = Database.prepare(
                connection, "UPDATE lock SET owner = ?, token = token + 1 WHERE name = ? AND owner IS NULL");
        PreparedStatement release =
                Database.prepare(connection, "UPDATE lock SET owner = NULL WHERE owner = ? AND name = ?");
        return PeerMutex.of(
                () -> {
                    update(acquire, key);
                    return key;
                },
                owned -> update(release, owned));
    }

    private static void update(PreparedStatement statement, byte[] key) throws SQLException {
        statement.setLong(1, OWNER);
        statement.setBytes(2, key);
        PeerMutex.requireOurs(statement.executeUpdate() == 1);
    }
}
