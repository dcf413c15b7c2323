package dev.holdfast.benchmarks.contestant.peer;

import com.zaxxer.hikari.HikariDataSource;
import dev.holdfast.benchmarks.harness.Contestant;
import dev.holdfast.benchmarks.server.Database;
import dev.holdfast.benchmarks.server.Servers;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import org.jspecify.annotations.Nullable;

/**
 * The locks of a database server itself. They belong to a connection, which the owner keeps as long as the lock, and
 * which waits with whoever waits; they write nothing, have no lease, and end with the connection.
 *
 * @param take waits for the lock of a name, and answers true or 1 with it
 * @param giveBack likewise
 */
public record SessionLocks(Servers.Kind kind, String title, String take, String giveBack) implements Contestant {

    public static final SessionLocks ON_POSTGRESQL = new SessionLocks(
            Servers.Kind.POSTGRESQL,
            "advisory",
            // It answers nothing, which is not null.
            "SELECT pg_advisory_lock(hashtextextended(?, 0)) IS NOT NULL",
            "SELECT pg_advisory_unlock(hashtextextended(?, 0))");

    public static final SessionLocks ON_MARIADB =
            new SessionLocks(Servers.Kind.MARIADB, "get-lock", "SELECT GET_LOCK(?, 3600)", "SELECT RELEASE_LOCK(?)");

    @Override
    public boolean isPeer() {
        return true;
    }

    @Override
    public Client connect(Path place) {
        return new SessionClient(Database.at(kind, place).pool(), this);
    }

    private record SessionClient(HikariDataSource pool, SessionLocks kind) implements Client {

        @Override
        public Mutex mutex(String name) {
            return new SessionMutex(pool, kind, name);
        }

        @Override
        public void close() {
            pool.close();
        }
    }

    private static final class SessionMutex implements Mutex {

        private final HikariDataSource pool;
        private final SessionLocks kind;
        private final String name;
        private @Nullable Connection held;

        SessionMutex(HikariDataSource pool, SessionLocks kind, String name) {
            this.pool = pool;
            this.kind = kind;
            this.name = name;
        }

        @Override
        public long acquire() {
            try {
                Connection connection = pool.getConnection();
                ask(connection, kind.take());
                held = connection;
            } catch (SQLException e) {
                throw new IllegalStateException(e);
            }
            return NO_TOKEN;
        }

        @Override
        public void release() {
            Connection connection = held;
            held = null;
            if (connection != null) {
                try (connection) {
                    ask(connection, kind.giveBack());
                } catch (SQLException e) {
                    throw new IllegalStateException(e);
                }
            }
        }

        private void ask(Connection connection, String sql) throws SQLException {
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
}
