package dev.holdfast.benchmarks.contestant.holdfast;

import com.google.protobuf.ByteString;
import dev.holdfast.Holdfast;
import dev.holdfast.benchmarks.harness.Contestant;
import dev.holdfast.benchmarks.server.Database;
import dev.holdfast.benchmarks.server.EtcdAccess;
import dev.holdfast.benchmarks.server.Servers;
import dev.holdfast.benchmarks.server.ZooKeeperAccess;
import dev.holdfast.spi.LockStore;
import dev.holdfast.store.etcd.EtcdStore;
import dev.holdfast.store.redis.RedisStore;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.api.StatefulRedisConnection;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Optional;

/**
 * A client in strict order, and beside it a probe of what the least answer of the server takes meanwhile: on the driver
 * that it uses, where that can be shared.
 *
 * @param probe what a ping sends
 * @param end closes what the probe uses
 */
record FairClient(Contestant.Client client, Runnable probe, Runnable end) implements Contestant.Client {

    /** How long to wait for a server on a busy machine, where several processes start at once. */
    static final Duration PATIENCE = Duration.ofMinutes(1);

    private static Contestant.Client client(LockStore store) {
        Holdfast holdfast = Holdfast.builder(store).cohortBudget(Duration.ZERO).build();
        return new Holdfasts.HoldfastClient(store, holdfast);
    }

    /** Pings by {@code PING}. */
    static FairClient onRedis(Path place) {
        RedisURI uri = RedisURI.create(Servers.address(Servers.Kind.REDIS, place));
        RedisClient driver = RedisClient.create(uri);
        RedisStore store =
                RedisStore.builder(uri).client(driver).connectTimeout(PATIENCE).open();
        StatefulRedisConnection<String, String> connection = driver.connect();
        return new FairClient(
                client(store),
                () -> {
                    var unused = connection.sync().ping();
                },
                () -> {
                    connection.close();
                    driver.shutdown(Duration.ZERO, Duration.ofSeconds(1));
                });
    }

    /** Pings by an update of a row that nobody else wants, which is committed by itself. */
    static FairClient onSql(LockStore store, Servers.Kind kind, Path place) {
        Database database = Database.at(kind, place);
        long id = ProcessHandle.current().pid();
        database.once("ping", () -> database.execute("CREATE TABLE ping (id BIGINT PRIMARY KEY, n BIGINT NOT NULL)"));
        database.once("ping-" + id, () -> database.execute("INSERT INTO ping VALUES (" + id + ", 0)"));
        Connection connection = database.connect();
        PreparedStatement update = Database.prepare(connection, "UPDATE ping SET n = n + 1 WHERE id = " + id);
        return new FairClient(
                client(store),
                () -> {
                    try {
                        update.executeUpdate();
                    } catch (SQLException e) {
                        throw new IllegalStateException(e);
                    }
                },
                () -> Database.close(connection));
    }

    /** Pings by a put of one small key. */
    static FairClient onEtcd(Path place) {
        EtcdAccess etcd = new EtcdAccess(Servers.address(Servers.Kind.ETCD, place));
        EtcdStore store =
                EtcdStore.builder(etcd.channel()).connectTimeout(PATIENCE).open();
        ByteString key =
                ByteString.copyFromUtf8("ping-" + ProcessHandle.current().pid());
        ByteString value = ByteString.copyFromUtf8("x");
        return new FairClient(client(store), () -> etcd.put(key, value), etcd::close);
    }

    /** Pings by a write of one small node, in a session of its own. */
    static FairClient onZooKeeper(LockStore store, Path place) {
        ZooKeeperAccess zooKeeper = new ZooKeeperAccess(Servers.address(Servers.Kind.ZOOKEEPER, place));
        String path = "/ping-" + ProcessHandle.current().pid();
        zooKeeper.createOnce(path);
        return new FairClient(client(store), () -> zooKeeper.set(path), zooKeeper::close);
    }

    @Override
    public Contestant.Mutex mutex(String name) {
        return client.mutex(name);
    }

    @Override
    public Optional<Runnable> ping() {
        return Optional.of(probe);
    }

    @Override
    public void close() {
        client.close();
        end.run();
    }
}
