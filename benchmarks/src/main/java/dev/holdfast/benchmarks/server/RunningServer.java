package dev.holdfast.benchmarks.server;

import dev.holdfast.servers.EtcdServer;
import dev.holdfast.servers.LocalSqlServer;
import dev.holdfast.servers.MariaDbServer;
import dev.holdfast.servers.PostgresServer;
import dev.holdfast.servers.RedisServer;
import dev.holdfast.servers.ZooKeeperServer;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;

/** A server that was started for a run. */
interface RunningServer extends AutoCloseable {

    /** Leaves nothing of what was there, and gives the address at which it now is. */
    String emptied();

    /** Its first process. */
    long pid();

    /** Its version, and what one has to know of its settings. */
    String description();

    @Override
    void close();

    static RunningServer start(Servers.Kind kind) {
        return switch (kind) {
            case REDIS -> new Redis(RedisServer.start());
            case POSTGRESQL ->
                new Sql(
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
                new Sql(
                        MariaDbServer.builder()
                                .asItComes()
                                .option("innodb-monitor-enable", SqlMeter.MARIADB_COMMITS)
                                .start(),
                        "",
                        "",
                        "SELECT CONCAT(VERSION(), ', innodb_flush_log_at_trx_commit ',"
                                + " @@innodb_flush_log_at_trx_commit, ', sync_binlog ', @@sync_binlog, ', log_bin ',"
                                + " @@log_bin)");
            case ETCD -> Etcd.start();
            case ZOOKEEPER -> new ZooKeeper();
        };
    }

    /** One Redis. */
    record Redis(RedisServer server) implements RunningServer {

        @Override
        public String emptied() {
            server.command("FLUSHALL");
            return server.uri();
        }

        @Override
        public long pid() {
            return server.process().pid();
        }

        @Override
        public String description() {
            return server.info("redis_version") + ", on this machine, nothing is written to the disk";
        }

        @Override
        public void close() {
            server.close();
        }
    }

    /** One etcd. It is compacted each minute, as clusters are in practice. */
    record Etcd(EtcdServer server) implements RunningServer {

        private static Etcd start() {
            return new Etcd(EtcdServer.builder()
                    .asItComes()
                    .option("auto-compaction-mode", "periodic")
                    .option("auto-compaction-retention", "1m")
                    .option("quota-backend-bytes", "8589934592")
                    .start());
        }

        @Override
        public String emptied() {
            try (EtcdAccess etcd = new EtcdAccess(server.endpoint())) {
                etcd.deleteAll();
            }
            return server.endpoint();
        }

        @Override
        public long pid() {
            return server.process().pid();
        }

        @Override
        public String description() {
            return server.version() + ", one member, on this machine, each write is flushed to the disk";
        }

        @Override
        public void close() {
            server.close();
        }
    }

    /** One ZooKeeper at a time. */
    final class ZooKeeper implements RunningServer {

        /** Of more nodes than these a new server is rid sooner. */
        private static final int MOST_DELETED = 10_000;

        private ZooKeeperServer server = newOne();

        private static ZooKeeperServer newOne() {
            return ZooKeeperServer.builder().asItComes().start();
        }

        @Override
        public String emptied() {
            if (server.nodes() > MOST_DELETED) {
                server.close();
                server = newOne();
                return server.connectString();
            }
            try (ZooKeeperAccess zooKeeper = new ZooKeeperAccess(server.connectString())) {
                zooKeeper.deleteAll();
            }
            return server.connectString();
        }

        @Override
        public long pid() {
            return server.process().pid();
        }

        @Override
        public String description() {
            return server.version() + ", one server, on this machine, each write is flushed to the disk";
        }

        @Override
        public void close() {
            server.close();
        }
    }

    /** One database server. Each cell has a new database on it. */
    final class Sql implements RunningServer {

        private final LocalSqlServer server;
        private final String evenIfUsed;
        private final String beginning;
        private final String description;
        private String last = "";

        /**
         * Takes a server over.
         *
         * @param evenIfUsed what stands behind DROP DATABASE, so that connections which are left don't hinder it
         * @param beginning the first statement in a new database, if any
         * @param description a query for it
         */
        Sql(LocalSqlServer server, String evenIfUsed, String beginning, String description) {
            this.server = server;
            this.evenIfUsed = evenIfUsed;
            this.beginning = beginning;
            this.description = description;
        }

        @Override
        public String emptied() {
            if (!last.isEmpty()) {
                String name = last.substring(last.indexOf('/', last.indexOf("//") + 2) + 1, last.indexOf('?'));
                server.execute("DROP DATABASE " + name + evenIfUsed);
            }
            last = server.newDatabase();
            if (!beginning.isEmpty()) {
                try (Connection connection = DriverManager.getConnection(last);
                        Statement statement = connection.createStatement()) {
                    statement.execute(beginning);
                } catch (SQLException e) {
                    throw new IllegalStateException(e);
                }
            }
            return last;
        }

        @Override
        public long pid() {
            return server.process().pid();
        }

        @Override
        public String description() {
            try (Connection connection = server.connect();
                    Statement statement = connection.createStatement();
                    ResultSet row = statement.executeQuery(description)) {
                row.next();
                return row.getString(1) + ", on this machine";
            } catch (SQLException e) {
                throw new IllegalStateException(e);
            }
        }

        @Override
        public void close() {
            server.close();
        }
    }
}
