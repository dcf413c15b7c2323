package dev.holdfast.benchmarks.server;

import dev.holdfast.servers.EtcdServer;
import dev.holdfast.servers.LocalSqlServer;
import dev.holdfast.servers.MariaDbServer;
import dev.holdfast.servers.PostgresServer;
import dev.holdfast.servers.RedisServer;
import dev.holdfast.servers.ZooKeeperServer;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.function.LongSupplier;
import java.util.function.Supplier;

/**
 * A server that was started for a run.
 *
 * @param emptied removes everything, and returns the address at which the server is now
 * @param pid its first process
 * @param description its version, and the settings that matter
 * @param end stops it
 */
record RunningServer(Supplier<String> emptied, LongSupplier pid, Supplier<String> description, Runnable end) {

    static RunningServer start(Servers.Kind kind) {
        return switch (kind) {
            case REDIS -> redis(RedisServer.start());
            case POSTGRESQL ->
                sql(
                        PostgresServer.builder()
                                .asItComes()
                                // It counts the statements.
                                .option("shared_preload_libraries", "pg_stat_statements")
                                .start(),
                        " WITH (FORCE)",
                        "CREATE EXTENSION pg_stat_statements",
                        "SELECT current_setting('server_version') || ', fsync ' || current_setting('fsync')"
                                + " || ', synchronous_commit ' || current_setting('synchronous_commit')"
                                + " || ', with ' || current_setting('shared_preload_libraries')");
            case MARIADB ->
                sql(
                        MariaDbServer.builder()
                                .asItComes()
                                .option("innodb-monitor-enable", SqlMeter.MARIADB_COMMITS)
                                .start(),
                        "",
                        "",
                        "SELECT CONCAT(VERSION(), ', innodb_flush_log_at_trx_commit ',"
                                + " @@innodb_flush_log_at_trx_commit, ', sync_binlog ', @@sync_binlog, ', log_bin ',"
                                + " @@log_bin)");
            case ETCD -> etcd();
            case ZOOKEEPER -> new ZooKeeper().running();
        };
    }

    private static RunningServer redis(RedisServer server) {
        return new RunningServer(
                () -> {
                    server.command("FLUSHALL");
                    return server.uri();
                },
                () -> server.process().pid(),
                () -> server.info("redis_version") + ", on this machine, nothing is written to the disk",
                server::close);
    }

    /** Compacted each minute, as clusters are in practice. */
    private static RunningServer etcd() {
        EtcdServer server = EtcdServer.builder()
                .asItComes()
                .option("auto-compaction-mode", "periodic")
                .option("auto-compaction-retention", "1m")
                .option("quota-backend-bytes", "8589934592")
                .start();
        return new RunningServer(
                () -> {
                    try (EtcdAccess etcd = new EtcdAccess(server.endpoint())) {
                        etcd.deleteAll();
                    }
                    return server.endpoint();
                },
                () -> server.process().pid(),
                () -> server.version() + ", one member, on this machine, each write is flushed to the disk",
                server::close);
    }

    /** One ZooKeeper after another. */
    private static final class ZooKeeper {

        /** Above this many nodes a new server is faster than deleting them. */
        private static final int MOST_DELETED = 10_000;

        private ZooKeeperServer server = start();

        private static ZooKeeperServer start() {
            return ZooKeeperServer.builder().asItComes().start();
        }

        RunningServer running() {
            return new RunningServer(
                    this::emptied,
                    () -> server.process().pid(),
                    () -> server.version() + ", one server, on this machine, each write is flushed to the disk",
                    () -> server.close());
        }

        private String emptied() {
            if (server.nodes() > MOST_DELETED) {
                server.close();
                server = start();
            } else {
                try (ZooKeeperAccess zooKeeper = new ZooKeeperAccess(server.connectString())) {
                    zooKeeper.deleteAll();
                }
            }
            return server.connectString();
        }
    }

    /**
     * A database server; each cell has a new database on it.
     *
     * @param evenIfUsed follows DROP DATABASE, so that connections which are left don't prevent it
     * @param initial the first statement in a new database; may be empty
     * @param description a query
     */
    private static RunningServer sql(LocalSqlServer server, String evenIfUsed, String initial, String description) {
        String[] last = {""};
        return new RunningServer(
                () -> {
                    String url = last[0];
                    if (!url.isEmpty()) {
                        String name = url.substring(url.indexOf('/', url.indexOf("//") + 2) + 1, url.indexOf('?'));
                        server.execute("DROP DATABASE " + name + evenIfUsed);
                    }
                    last[0] = server.newDatabase();
                    if (!initial.isEmpty()) {
                        Connection connection = Database.connect(last[0]);
                        Database.execute(connection, initial);
                        Database.close(connection);
                    }
                    return last[0];
                },
                () -> server.process().pid(),
                () -> {
                    try (Connection connection = server.connect();
                            Statement statement = connection.createStatement();
                            ResultSet row = statement.executeQuery(description)) {
                        row.next();
                        return row.getString(1) + ", on this machine";
                    } catch (SQLException e) {
                        throw new IllegalStateException(e);
                    }
                },
                server::close);
    }
}
