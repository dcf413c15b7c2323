package dev.holdfast.benchmarks.server;

import com.google.protobuf.ByteString;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Duration;

/**
 * Sends the smallest request that the server replies to as to a lock's, on a separate connection, and waits for the
 * reply: that is how long one takes under the present load. On servers that confirm writes, it writes.
 */
public record Ping(Runnable request, Runnable end) implements AutoCloseable {

    public static final Ping NONE = new Ping(() -> {}, () -> {});

    /** A ping of the server that was lent to a directory. */
    public static Ping of(Servers.Kind kind, Path place) {
        return switch (kind) {
            case REDIS -> ofRedis(place);
            case POSTGRESQL, MARIADB -> ofSql(Database.at(kind, place));
            case ETCD -> ofEtcd(place);
            case ZOOKEEPER -> ofZooKeeper(place);
        };
    }

    private static Ping ofRedis(Path place) {
        RedisClient client = RedisClient.create(RedisURI.create(Servers.address(Servers.Kind.REDIS, place)));
        var commands = client.connect().sync();
        return new Ping(
                () -> {
                    var unused = commands.ping();
                },
                () -> client.shutdown(Duration.ZERO, Duration.ofSeconds(1)));
    }

    /** An update of a separate row, in autocommit mode. */
    private static Ping ofSql(Database database) {
        long id = ProcessHandle.current().pid();
        database.once("ping", () -> database.execute("CREATE TABLE ping (id BIGINT PRIMARY KEY, n BIGINT NOT NULL)"));
        database.once("ping-" + id, () -> database.execute("INSERT INTO ping VALUES (" + id + ", 0)"));
        Connection connection = database.connect();
        PreparedStatement update = Database.prepare(connection, "UPDATE ping SET n = n + 1 WHERE id = " + id);
        return new Ping(
                () -> {
                    try {
                        update.executeUpdate();
                    } catch (SQLException e) {
                        throw new IllegalStateException(e);
                    }
                },
                () -> Database.close(connection));
    }

    private static Ping ofEtcd(Path place) {
        EtcdAccess etcd = new EtcdAccess(Servers.address(Servers.Kind.ETCD, place));
        ByteString key =
                ByteString.copyFromUtf8("ping-" + ProcessHandle.current().pid());
        ByteString value = ByteString.copyFromUtf8("x");
        return new Ping(() -> etcd.put(key, value), etcd::close);
    }

    private static Ping ofZooKeeper(Path place) {
        ZooKeeperAccess zooKeeper = new ZooKeeperAccess(Servers.address(Servers.Kind.ZOOKEEPER, place));
        String path = "/ping-" + ProcessHandle.current().pid();
        zooKeeper.createOnce(path);
        return new Ping(() -> zooKeeper.set(path), zooKeeper::close);
    }

    @Override
    public void close() {
        end.run();
    }
}
