package dev.holdfast.benchmarks.contestant.peer;

import com.google.protobuf.ByteString;
import com.zaxxer.hikari.HikariDataSource;
import dev.holdfast.benchmarks.harness.Contestant;
import dev.holdfast.benchmarks.server.Database;
import dev.holdfast.benchmarks.server.EtcdAccess;
import dev.holdfast.benchmarks.server.Servers;
import dev.holdfast.benchmarks.server.ZooKeeperAccess;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.ScriptOutputType;
import io.lettuce.core.SetArgs;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.api.sync.RedisCommands;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicLong;

/**
 * What one would write by hand: a record that is created if it is absent, and deleted if it is still ours. A thread
 * that finds it taken retries at once. There is no lease (except on Redis), no fairness and no token, to show what
 * those cost. The threads may starve where hundreds want one name, so these count as peers.
 */
public final class RawLocks {

    /** A key with a lease, deleted by a script, on one connection that pipelines the commands of all threads. */
    public static final Contestant ON_REDIS = new Peer("raw", RawLocks::onRedis);

    /** A row, on the connections of a pool; the insert must not fail if the row exists. */
    public static final Contestant ON_POSTGRESQL =
            onSql(Servers.Kind.POSTGRESQL, "INSERT INTO by_hand (name, owner) VALUES (?, ?) ON CONFLICT DO NOTHING");

    public static final Contestant ON_MARIADB =
            onSql(Servers.Kind.MARIADB, "INSERT IGNORE INTO by_hand (name, owner) VALUES (?, ?)");

    /** A key. */
    public static final Contestant ON_ETCD = new Peer("raw", RawLocks::onEtcd);

    /** An ephemeral node; the delete does not check its owner. */
    public static final Contestant ON_ZOOKEEPER = new Peer("raw", RawLocks::onZooKeeper);

    private static final String DELETE = "DELETE FROM by_hand WHERE name = ? AND owner = ?";

    /** Serialization failure: MariaDB reports a deadlock so, when many insert what one deletes. */
    private static final String AGAIN = "40001";

    private static final int NOTHING_DONE = -1;
    private static final long NO_LEASE = 0;
    private static final SetArgs IF_ABSENT = SetArgs.Builder.nx().px(30_000);
    private static final String DELETE_IF_OURS =
            "if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('del', KEYS[1]) else return 0 end";

    private RawLocks() {}

    private static String owner() {
        return Long.toHexString(ThreadLocalRandom.current().nextLong());
    }

    private static Contestant.Client onRedis(Path place) {
        RedisClient client = RedisClient.create(RedisURI.create(Servers.address(Servers.Kind.REDIS, place)));
        StatefulRedisConnection<String, String> connection = client.connect();
        RedisCommands<String, String> commands = connection.sync();
        String digest = commands.scriptLoad(DELETE_IF_OURS);
        return Contestant.Client.of(
                name -> onRedis(commands, digest, name),
                Optional.of(() -> {
                    var unused = commands.ping();
                }),
                () -> {
                    connection.close();
                    client.shutdown(Duration.ZERO, Duration.ofSeconds(1));
                });
    }

    private static Contestant.Mutex onRedis(RedisCommands<String, String> commands, String digest, String name) {
        String[] keys = {name};
        String owner = owner();
        AtomicLong pairs = new AtomicLong();
        return PeerMutex.of(
                () -> {
                    String value = owner + "-" + pairs.incrementAndGet();
                    PeerMutex.spin(() -> commands.set(name, value, IF_ABSENT) != null);
                    return value;
                },
                value -> {
                    Long deleted = commands.evalsha(digest, ScriptOutputType.INTEGER, keys, value);
                    PeerMutex.requireOurs(deleted == 1);
                });
    }

    private static Contestant onSql(Servers.Kind kind, String insert) {
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
        String owner = owner();
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

    private static Contestant.Client onEtcd(Path place) {
        EtcdAccess etcd = new EtcdAccess(Servers.address(Servers.Kind.ETCD, place));
        return Contestant.Client.of(
                name -> {
                    ByteString key = ByteString.copyFromUtf8(name);
                    ByteString owner = ByteString.copyFromUtf8(owner());
                    return PeerMutex.of(
                            () -> {
                                PeerMutex.spin(() -> etcd.putIfAbsent(key, owner, NO_LEASE));
                                return owner;
                            },
                            owned -> PeerMutex.requireOurs(etcd.deleteIf(key, owned)));
                },
                etcd::close);
    }

    private static Contestant.Client onZooKeeper(Path place) {
        ZooKeeperAccess zooKeeper = new ZooKeeperAccess(Servers.address(Servers.Kind.ZOOKEEPER, place));
        return Contestant.Client.of(
                name -> {
                    String path = "/" + name.replace('/', '-');
                    return PeerMutex.of(
                            () -> {
                                PeerMutex.spin(() -> zooKeeper.createIfAbsent(path));
                                return path;
                            },
                            zooKeeper::delete);
                },
                zooKeeper::close);
    }
}
