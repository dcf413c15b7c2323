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
 * Clients in strict order that can ping: a ping takes as long as the smallest reply of the server under that load. It
 * uses the driver of the client where that can be shared.
 */
final class FairClients {

    /** A server may be slow to accept on a busy machine, where several processes start at once. */
    static final Duration CONNECT_TIMEOUT = Duration.ofMinutes(1);

    private FairClients() {}

    private static Contestant.Client client(LockStore store, Runnable ping, Runnable end) {
        Contestant.Client client = new Holdfasts.HoldfastClient(
                store, Holdfast.builder(store).cohortBudget(Duration.ZERO).build());
        return Contestant.Client.of(client::mutex, Optional.of(ping), () -> {
            client.close();
            end.run();
        });
    }

    /** Pings by {@code PING}. */
    static Contestant.Client onRedis(Path place) {
        RedisURI uri = RedisURI.create(Servers.address(Servers.Kind.REDIS, place));
        RedisClient driver = RedisClient.create(uri);
        RedisStore store = RedisStore.builder(uri)
                .client(driver)
                .connectTimeout(CONNECT_TIMEOUT)
                .open();
        StatefulRedisConnection<String, String> connection = driver.connect();
        return client(
                store,
                () -> {
                    var unused = connection.sync().ping();
                },
                () -> {
                    connection.close();
                    driver.shutdown(Duration.ZERO, Duration.ofSeconds(1));
                });
    }

    /** Pings by an update of a row of its own, in autocommit mode. */
    static Contestant.Client onSql(LockStore store, Servers.Kind kind, Path place) {
        Database database = Database.at(kind, place);
        long id = ProcessHandle.current().pid();
        database.once("ping", () -> database.execute("CREATE TABLE ping (id BIGINT PRIMARY KEY, n BIGINT NOT NULL)"));
        database.once("ping-" + id, () -> database.execute("INSERT INTO ping VALUES (" + id + ", 0)"));
        Connection connection = database.connect();
        PreparedStatement update = Database.prepare(connection, "UPDATE ping SET n = n + 1 WHERE id = " + id);
        return client(
                store,
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
    static Contestant.Client onEtcd(Path place) {
        EtcdAccess etcd = new EtcdAccess(Servers.address(Servers.Kind.ETCD, place));
        EtcdStore store = EtcdStore.builder(etcd.channel())
                .connectTimeout(CONNECT_TIMEOUT)
                .open();
        ByteString key =
                ByteString.copyFromUtf8("ping-" + ProcessHandle.current().pid());
        ByteString value = ByteString.copyFromUtf8("x");
        return client(store, () -> etcd.put(key, value), etcd::close);
    }

    /** Pings by a write of one small node, in a session of its own. */
    static Contestant.Client onZooKeeper(LockStore store, Path place) {
        ZooKeeperAccess zooKeeper = new ZooKeeperAccess(Servers.address(Servers.Kind.ZOOKEEPER, place));
        String path = "/ping-" + ProcessHandle.current().pid();
        zooKeeper.createOnce(path);
        return client(store, () -> zooKeeper.set(path), zooKeeper::close);
    }
}
