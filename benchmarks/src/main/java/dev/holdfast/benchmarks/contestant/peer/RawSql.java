package dev.holdfast.benchmarks.contestant.peer;

import com.zaxxer.hikari.HikariDataSource;
import dev.holdfast.benchmarks.harness.Contestant;
import dev.holdfast.benchmarks.server.Database;
import dev.holdfast.benchmarks.server.Servers;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.concurrent.ThreadLocalRandom;

/**
 * What one would write by hand: a row that is inserted if it is not there, and deleted if it is still ours, on the
 * connections of a pool. Whoever finds the row there asks again at once. It has no lease, is not fair, and has no
 * tokens: to see what all that costs.
 *
 * @param insert the statement that inserts if nothing is there, and fails in no case
 */
public record RawSql(Servers.Kind kind, String insert) implements Contestant {

    public static final RawSql ON_POSTGRESQL = new RawSql(
            Servers.Kind.POSTGRESQL, "INSERT INTO by_hand (name, owner) VALUES (?, ?) ON CONFLICT DO NOTHING");
    public static final RawSql ON_MARIADB =
            new RawSql(Servers.Kind.MARIADB, "INSERT IGNORE INTO by_hand (name, owner) VALUES (?, ?)");

    private static final String DELETE = "DELETE FROM by_hand WHERE name = ? AND owner = ?";

    /** Serialization failure: MariaDB tells of a deadlock so, when many insert what one deletes. */
    private static final String AGAIN = "40001";

    @Override
    public String title() {
        return "raw";
    }

    /** Nothing of ours: its threads may starve, where hundreds want the one row. */
    @Override
    public boolean isPeer() {
        return true;
    }

    @Override
    public Client connect(Path place) {
        Database database = Database.at(kind, place);
        database.once(
                "by_hand",
                () -> database.execute(
                        "CREATE TABLE by_hand (name VARCHAR(200) PRIMARY KEY, owner VARCHAR(64) NOT NULL)"));
        return new RawClient(database.pool(), insert);
    }

    private record RawClient(HikariDataSource pool, String insert) implements Client {

        @Override
        public Mutex mutex(String name) {
            return new RawMutex(pool, insert, name);
        }

        @Override
        public void close() {
            pool.close();
        }
    }

    private static final class RawMutex implements Mutex {

        private final HikariDataSource pool;
        private final String insert;
        private final String name;
        private final String owner =
                Long.toHexString(ThreadLocalRandom.current().nextLong());

        RawMutex(HikariDataSource pool, String insert, String name) {
            this.pool = pool;
            this.insert = insert;
            this.name = name;
        }

        @Override
        public long acquire() throws InterruptedException {
            while (rows(insert) != 1) {
                if (Thread.interrupted()) {
                    throw new InterruptedException();
                }
            }
            return NO_TOKEN;
        }

        @Override
        public void release() {
            int rows;
            do {
                rows = rows(DELETE);
            } while (rows < 0);
            if (rows != 1) {
                throw new IllegalStateException("the lock is not ours");
            }
        }

        /** How many rows a statement changed; less than none if others were in the way. */
        private int rows(String sql) {
            try (Connection connection = pool.getConnection();
                    PreparedStatement statement = connection.prepareStatement(sql)) {
                statement.setString(1, name);
                statement.setString(2, owner);
                return statement.executeUpdate();
            } catch (SQLException e) {
                if (AGAIN.equals(e.getSQLState())) {
                    return -1;
                }
                throw new IllegalStateException(e);
            }
        }
    }
}
