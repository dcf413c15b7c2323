package dev.holdfast.benchmarks.contestant.peer;

import dev.holdfast.benchmarks.harness.Contestant;
import dev.holdfast.benchmarks.server.Database;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.locks.ReentrantLock;

/** Locks of others that need no server. */
public final class LocalPeers {

    /** The JDK's locks, which exclude threads of one process only: for orientation. */
    public static final Contestant JDK_FAIR = jdk("jdk-fair", true);

    public static final Contestant JDK_UNFAIR = jdk("jdk-unfair", false);

    /**
     * A row for each lock in a SQLite file, acquired and released by one statement each, on one connection. It has no
     * sessions, no queue and no tokens, and serves one thread only, to show what those cost.
     */
    public static final Contestant BY_HAND_FULL = byHand("by-hand-full", "FULL");

    public static final Contestant BY_HAND_NORMAL = byHand("by-hand-normal", "NORMAL");

    private static final long OWNER = 1;

    private LocalPeers() {}

    private static Contestant jdk(String title, boolean isFair) {
        return new Peer(title, place -> {
            ConcurrentMap<String, ReentrantLock> locks = new ConcurrentHashMap<>();
            return Contestant.Client.of(
                    name -> PeerMutex.of(locks.computeIfAbsent(name, unused -> new ReentrantLock(isFair))), () -> {});
        });
    }

    private static Contestant byHand(String title, String synchronous) {
        return new Peer(title, place -> {
            Connection connection = Database.connect("jdbc:sqlite:" + place.resolve("by-hand.db"));
            Database.execute(
                    connection,
                    "PRAGMA journal_mode = WAL",
                    "PRAGMA synchronous = " + synchronous,
                    "CREATE TABLE lock (name BLOB PRIMARY KEY, owner INTEGER, token INTEGER NOT NULL) WITHOUT ROWID");
            return Contestant.Client.of(name -> byHand(connection, name), () -> Database.close(connection));
        });
    }

    private static Contestant.Mutex byHand(Connection connection, String name) {
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
