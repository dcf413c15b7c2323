package dev.holdfast.benchmarks.contestant.peer;

import dev.holdfast.benchmarks.harness.Contestant;
import dev.holdfast.benchmarks.server.Database;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Statement;

/**
 * What one would write by hand: a row for each lock in a SQLite file, taken and given back by one statement each, on
 * one connection. It has neither sessions nor a queue, and does not tell its token: for one thread only, to see what
 * all that costs.
 */
public enum ByHand implements Contestant {
    FULL("by-hand-full"),
    NORMAL("by-hand-normal");

    private static final long OWNER = 1;

    private final String title;

    ByHand(String title) {
        this.title = title;
    }

    @Override
    public String title() {
        return title;
    }

    @Override
    public Client connect(Path place) {
        try {
            Connection connection = DriverManager.getConnection("jdbc:sqlite:" + place.resolve("by-hand.db"));
            try (Statement statement = connection.createStatement()) {
                statement.execute("PRAGMA journal_mode = WAL");
                statement.execute("PRAGMA synchronous = " + name());
                statement.execute("CREATE TABLE lock (name BLOB PRIMARY KEY, owner INTEGER,"
                        + " token INTEGER NOT NULL) WITHOUT ROWID");
            }
            return Client.of(name -> mutex(connection, name), () -> Database.close(connection));
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
    }

    private static Mutex mutex(Connection connection, String name) {
        byte[] key = name.getBytes(StandardCharsets.UTF_8);
        try (PreparedStatement insert =
                connection.prepareStatement("INSERT INTO lock (name, owner, token) VALUES (?, NULL, 0)")) {
            insert.setBytes(1, key);
            insert.executeUpdate();
            return new HandMutex(
                    connection.prepareStatement(
                            "UPDATE lock SET owner = ?, token = token + 1 WHERE name = ? AND owner IS NULL"),
                    connection.prepareStatement("UPDATE lock SET owner = NULL WHERE name = ? AND owner = ?"),
                    key);
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
    }

    private static final class HandMutex implements Mutex {

        private final PreparedStatement take;
        private final PreparedStatement giveBack;
        private final byte[] key;

        HandMutex(PreparedStatement take, PreparedStatement giveBack, byte[] key) {
            this.take = take;
            this.giveBack = giveBack;
            this.key = key;
        }

        @Override
        public long acquire() {
            try {
                take.setLong(1, OWNER);
                take.setBytes(2, key);
                requireOne(take.executeUpdate());
            } catch (SQLException e) {
                throw new IllegalStateException(e);
            }
            return NO_TOKEN;
        }

        @Override
        public void release() {
            try {
                giveBack.setBytes(1, key);
                giveBack.setLong(2, OWNER);
                requireOne(giveBack.executeUpdate());
            } catch (SQLException e) {
                throw new IllegalStateException(e);
            }
        }

        private static void requireOne(int rows) {
            if (rows != 1) {
                throw new IllegalStateException("the lock is not as it should be");
            }
        }
    }
}
