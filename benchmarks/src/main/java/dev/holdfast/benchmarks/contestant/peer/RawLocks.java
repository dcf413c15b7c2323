package dev.holdfast.benchmarks.contestant.peer;

import com.google.protobuf.ByteString;
import com.zaxxer.hikari.HikariDataSource;
import dev.holdfast.benchmarks.harness.Contestant;
import dev.holdfast.benchmarks.server.Database;
import dev.holdfast.benchmarks.server.EtcdAccess;
import dev.holdfast.benchmarks.server.Servers;
import dev.holdfast.benchmarks.server.ZooKeeperAccess;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.concurrent.ThreadLocalRandom;

/**
 * What one would write by hand: a record that is made if it is not there, and removed if it is still ours. Whoever
 * finds it there asks again at once. It has no lease, is not fair, and has no tokens: to see what all that costs.
 * Nothing of ours, so these are peers, whose threads may starve where hundreds want one name.
 */
public final class RawLocks {

    /** A row, on the connections of a pool; a statement that inserts must not fail if there is one. */
    public static final Contestant ON_POSTGRESQL =
            onSql(Servers.Kind.POSTGRESQL, "INSERT INTO by_hand (name, owner) VALUES (?, ?) ON CONFLICT DO NOTHING");

    public static final Contestant ON_MARIADB =
            onSql(Servers.Kind.MARIADB, "INSERT IGNORE INTO by_hand (name, owner) VALUES (?, ?)");

    /** A key. */
    public static final Contestant ON_ETCD = new Peer("raw", RawLocks::onEtcd);

    /** An ephemeral node, which is deleted whosever it is. */
    public static final Contestant ON_ZOOKEEPER = new Peer("raw", RawLocks::onZooKeeper);

    private static final String DELETE = "DELETE FROM by_hand WHERE name = ? AND owner = ?";

    /** Serialization failure: MariaDB tells of a deadlock so, when many insert what one deletes. */
    private static final String AGAIN = "40001";

    private static final int NOTHING_DONE = -1;
    private static final long NO_LEASE = 0;

    private RawLocks() {}

    private static String owner() {
        return Long.toHexString(ThreadLocalRandom.current().nextLong());
    }

    private static void requireOurs(boolean isOurs) {
        if (!isOurs) {
            throw new IllegalStateException("the lock is not ours");
        }
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
                held -> {
                    int rows;
                    do {
                        rows = change(pool, DELETE, name, held);
                    } while (rows == NOTHING_DONE);
                    requireOurs(rows == 1);
                });
    }

    /** How many rows a statement changed; {@link #NOTHING_DONE} if others were in the way. */
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
                            held -> requireOurs(etcd.deleteIf(key, held)));
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
