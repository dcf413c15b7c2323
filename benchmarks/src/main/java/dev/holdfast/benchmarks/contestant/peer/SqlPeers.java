package dev.holdfast.benchmarks.contestant.peer;

import com.zaxxer.hikari.HikariDataSource;
import dev.holdfast.benchmarks.harness.Contestant;
import dev.holdfast.benchmarks.server.Database;
import dev.holdfast.benchmarks.server.Servers;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import net.javacrumbs.shedlock.core.LockConfiguration;
import net.javacrumbs.shedlock.core.LockProvider;
import net.javacrumbs.shedlock.core.SimpleLock;
import net.javacrumbs.shedlock.provider.jdbctemplate.JdbcTemplateLockProvider;
import org.springframework.core.io.ClassPathResource;
import org.springframework.integration.jdbc.lock.DefaultLockRepository;
import org.springframework.integration.jdbc.lock.JdbcLockRegistry;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.init.ResourceDatabasePopulator;
import org.springframework.jdbc.support.JdbcTransactionManager;

/**
 * Locks of others on a database server, on the connections of a pool.
 *
 * @param raw a row that is inserted and deleted
 * @param spring the registry of Spring Integration, as a program sets it up
 * @param shedlock ShedLock by the database's clock, as its manual advises; it does not wait, so threads retry
 * @param own the lock of the server itself: it belongs to a connection, has no lease, and writes nothing
 */
public record SqlPeers(Contestant raw, Contestant spring, Contestant shedlock, Contestant own) {

    public static final SqlPeers POSTGRESQL = new SqlPeers(
            // The insert must not fail if the row exists.
            raw(Servers.Kind.POSTGRESQL, "INSERT INTO by_hand (name, owner) VALUES (?, ?) ON CONFLICT DO NOTHING"),
            spring(Servers.Kind.POSTGRESQL, "schema-postgresql.sql"),
            shedlock(Servers.Kind.POSTGRESQL, "TIMESTAMP"),
            own(
                    Servers.Kind.POSTGRESQL,
                    "advisory",
                    // The function returns void, which is not null.
                    "SELECT pg_advisory_lock(hashtextextended(?, 0)) IS NOT NULL",
                    "SELECT pg_advisory_unlock(hashtextextended(?, 0))"));

    public static final SqlPeers MARIADB = new SqlPeers(
            raw(Servers.Kind.MARIADB, "INSERT IGNORE INTO by_hand (name, owner) VALUES (?, ?)"),
            spring(Servers.Kind.MARIADB, "schema-mysql.sql"),
            shedlock(Servers.Kind.MARIADB, "TIMESTAMP(3)"),
            own(Servers.Kind.MARIADB, "get-lock", "SELECT GET_LOCK(?, 3600)", "SELECT RELEASE_LOCK(?)"));

    /** Between two attempts of a thread with ShedLock, so that waiting does not burn the processor. */
    public static final Duration PAUSE = Duration.ofMillis(1);

    private static final Duration LEASE = Duration.ofSeconds(30);
    private static final String DELETE = "DELETE FROM by_hand WHERE name = ? AND owner = ?";

    /** Serialization failure: MariaDB reports a deadlock so, when many insert what one deletes. */
    private static final String AGAIN = "40001";

    private static final int NOTHING_DONE = -1;
    private static final String SCRIPTS = "org/springframework/integration/jdbc/";

    private static Contestant raw(Servers.Kind kind, String insert) {
        return new Peer("raw", place -> {
            Database database = Database.at(kind, place);
            database.once(
                    "by_hand",
                    () -> database.execute(
                            "CREATE TABLE by_hand (name VARCHAR(200) PRIMARY KEY, owner VARCHAR(64) NOT NULL)"));
            HikariDataSource pool = database.pool();
            return Contestant.Client.of(name -> row(pool, insert, name), pool::close);
        });
    }

    private static Contestant.Mutex row(HikariDataSource pool, String insert, String name) {
        String owner = PeerMutex.newOwner();
        return PeerMutex.of(
                () -> {
                    PeerMutex.spin(() -> change(pool, insert, name, owner) == 1);
                    return owner;
                },
                owned -> {
                    int rows;
                    do {
                        rows = change(pool, DELETE, name, owned);
                    } while (rows == NOTHING_DONE);
                    PeerMutex.requireOurs(rows == 1);
                });
    }

    /** How many rows a statement changed; {@link #NOTHING_DONE} after a deadlock with others. */
    private static int change(HikariDataSource pool, String sql, String name, String owner) throws SQLException {
        try (Connection connection = pool.getConnection();
                PreparedStatement statement = connection.prepareStatement(sql)) {
            statement.setString(1, name);
            statement.setString(2, owner);
            return statement.executeUpdate();
        } catch (SQLException e) {
            if (AGAIN.equals(e.getSQLState())) {
                return NOTHING_DONE;
            }
            throw e;
        }
    }

    /** @param script that makes its tables, as it ships */
    private static Contestant spring(Servers.Kind kind, String script) {
        return new Peer("spring", place -> {
            Database database = Database.at(kind, place);
            HikariDataSource pool = database.pool();
            database.once(
                    script, () -> new ResourceDatabasePopulator(new ClassPathResource(SCRIPTS + script)).execute(pool));
            DefaultLockRepository repository = new DefaultLockRepository(pool);
            repository.setTransactionManager(new JdbcTransactionManager(pool));
            repository.afterPropertiesSet();
            repository.afterSingletonsInstantiated();
            repository.start();
            JdbcLockRegistry registry = new JdbcLockRegistry(repository);
            return Contestant.Client.of(name -> PeerMutex.of(registry.obtain(name)), () -> {
                repository.close();
                pool.close();
            });
        });
    }

    /** @param time the type of its columns for times */
    private static Contestant shedlock(Servers.Kind kind, String time) {
        return new Peer("shedlock", place -> {
            Database database = Database.at(kind, place);
            database.once(
                    "shedlock",
                    () -> database.execute("CREATE TABLE shedlock (name VARCHAR(64) NOT NULL, lock_until " + time
                            + " NOT NULL, locked_at " + time
                            + " NOT NULL, locked_by VARCHAR(255) NOT NULL, PRIMARY KEY (name))"));
            HikariDataSource pool = database.pool();
            LockProvider provider = new JdbcTemplateLockProvider(JdbcTemplateLockProvider.Configuration.builder()
                    .withJdbcTemplate(new JdbcTemplate(pool))
                    .usingDbTime()
                    .build());
            return Contestant.Client.of(
                    name -> PeerMutex.of(() -> acquire(provider, name), SimpleLock::unlock), pool::close);
        });
    }

    private static SimpleLock acquire(LockProvider provider, String name) throws InterruptedException {
        while (true) {
            Optional<SimpleLock> lock = provider.lock(new LockConfiguration(Instant.now(), name, LEASE, Duration.ZERO));
            if (lock.isPresent()) {
                return lock.get();
            }
            TimeUnit.NANOSECONDS.sleep(PAUSE.toNanos());
        }
    }

    /** Two queries, with the name as their parameter, that return true or 1. */
    private static Contestant own(Servers.Kind kind, String title, String acquire, String release) {
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
                PeerMutex.requireOurs(row.getBoolean(1));
            }
        }
    }
}
