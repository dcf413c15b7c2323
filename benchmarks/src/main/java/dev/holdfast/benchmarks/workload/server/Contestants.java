package dev.holdfast.benchmarks.workload.server;

import dev.holdfast.benchmarks.contestant.holdfast.Holdfasts;
import dev.holdfast.benchmarks.contestant.peer.EtcdPeers;
import dev.holdfast.benchmarks.contestant.peer.RedisPeers;
import dev.holdfast.benchmarks.contestant.peer.SqlPeers;
import dev.holdfast.benchmarks.contestant.peer.ZooKeeperPeers;
import dev.holdfast.benchmarks.harness.Contestant;
import dev.holdfast.benchmarks.server.Database;
import dev.holdfast.benchmarks.server.Servers;
import dev.holdfast.benchmarks.workload.Unit;
import dev.holdfast.benchmarks.workload.Workload;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * The locks that are compared on one kind of server.
 *
 * @param raw the lock that one would write by hand: the floor
 * @param ours Holdfast with its default settings
 * @param peers other libraries with their default settings, whose locks expire some time after their owner
 * @param fairPeers other libraries in strict order
 * @param serversOwn locks of the server itself, which end with a connection
 * @param keepers the peers that keep their locks alive
 * @param counts what the server counts for each pair
 * @param settings those of all contestants, for the page
 * @param counted what the counts are, for the page
 */
public record Contestants(
        Servers.Kind server,
        Contestant raw,
        Holdfasts ours,
        List<Contestant> peers,
        List<Contestant> fairPeers,
        List<Contestant> serversOwn,
        List<Contestant> keepers,
        List<Workload.Column> counts,
        String settings,
        String counted) {

    private static final List<Workload.Column> SQL_COUNTS = List.of(
            new Workload.Column("statements", Unit.COUNT, "commands"),
            new Workload.Column("commits", Unit.COUNT, "commits"));

    private static final List<Workload.Column> WRITE_COUNTS = List.of(
            new Workload.Column("requests", Unit.COUNT, "commands"),
            new Workload.Column("writes", Unit.COUNT, "commits"));

    public static final Contestants REDIS = new Contestants(
            Servers.Kind.REDIS,
            RedisPeers.RAW,
            Holdfasts.REDIS,
            List.of(RedisPeers.REDISSON, RedisPeers.REDISSON_SPIN, RedisPeers.SPRING_SPIN, RedisPeers.SPRING_PUBSUB),
            List.of(RedisPeers.REDISSON_FAIR),
            List.of(),
            List.of(RedisPeers.REDISSON),
            List.of(
                    new Workload.Column("commands", Unit.COUNT, "commands"),
                    new Workload.Column("in scripts", Unit.COUNT, "in scripts")),
            "The server writes nothing to the disk. Redisson renews its locks, Spring Integration does not. *raw* is"
                    + " `SET NX PX` and a script that compares and deletes, on one connection that all threads share.",
            "*Commands* are sent by clients, those *in scripts* run inside scripts");

    public static final Contestants POSTGRESQL = onSql(
            Servers.Kind.POSTGRESQL,
            Holdfasts.POSTGRESQL,
            SqlPeers.POSTGRESQL,
            "`INSERT ... ON CONFLICT DO NOTHING`",
            "`pg_advisory_lock`",
            "The server flushes each commit, except for releases of Holdfast for which no one waits (ADR 18).",
            "*Statements* include `BEGIN` and `COMMIT`, *commits* are transactions that wrote something");

    public static final Contestants MARIADB = onSql(
            Servers.Kind.MARIADB,
            Holdfasts.MARIADB,
            SqlPeers.MARIADB,
            "`INSERT IGNORE`",
            "`GET_LOCK`",
            "The server flushes each commit and writes no binary log.",
            "*Commits* are transactions that wrote something");

    public static final Contestants ETCD = new Contestants(
            Servers.Kind.ETCD,
            EtcdPeers.RAW,
            Holdfasts.ETCD,
            List.of(EtcdPeers.JETCD),
            List.of(),
            List.of(),
            List.of(),
            WRITE_COUNTS,
            "The server flushes each write and is compacted each minute. *raw* is a transaction that puts a key if it"
                    + " is absent, and one that deletes it if it is ours. *jetcd* is the fair lock of the server, with"
                    + " a lease for each thread.",
            "*Requests* are messages that the server received, *writes* its committed proposals");

    public static final Contestants ZOOKEEPER = new Contestants(
            Servers.Kind.ZOOKEEPER,
            ZooKeeperPeers.RAW,
            Holdfasts.ZOOKEEPER,
            List.of(
                    ZooKeeperPeers.CURATOR,
                    ZooKeeperPeers.CURATOR_SEMAPHORE_MUTEX,
                    ZooKeeperPeers.CURATOR_SEMAPHORE,
                    ZooKeeperPeers.CURATOR_WRITE_LOCK,
                    ZooKeeperPeers.SPRING),
            List.of(),
            List.of(),
            List.of(),
            WRITE_COUNTS,
            "The server flushes each write. *raw* creates an ephemeral node and deletes it. All peers serve in the"
                    + " order of arrival.",
            "*Requests* are packets that the server received, *writes* its transactions");

    static final List<Contestants> ALL = List.of(REDIS, POSTGRESQL, MARIADB, ETCD, ZOOKEEPER);

    private static Contestants onSql(
            Servers.Kind server,
            Holdfasts ours,
            SqlPeers peers,
            String insert,
            String function,
            String settings,
            String counted) {
        return new Contestants(
                server,
                peers.raw(),
                ours,
                List.of(peers.spring(), peers.shedlock()),
                List.of(),
                List.of(peers.own()),
                List.of(),
                SQL_COUNTS,
                String.format(
                        "%s Holdfast makes its connections itself, the others have a pool of HikariCP with %d"
                                + " connections in each process. *raw* is %s and `DELETE`, each committed. *shedlock*"
                                + " does not wait, so its threads retry after %d ms. *%s* is %s, a lock of the server"
                                + " for a connection, without a lease.",
                        settings,
                        Database.POOL,
                        insert,
                        SqlPeers.PAUSE.toMillis(),
                        peers.own().title(),
                        function),
                counted);
    }

    /** The prefix of the workloads' ids. */
    public String name() {
        return server.name().toLowerCase(Locale.ROOT);
    }

    Workload workload(String suffix, String title, String method) {
        return new Workload(
                name() + suffix, server.title() + ", " + title, Optional.of(server), method + " " + settings);
    }

    /** The number for the kind of this server. */
    double goal(double redis, double sql, double register) {
        return isRedis() ? redis : isSql() ? sql : register;
    }

    boolean isRedis() {
        return server == Servers.Kind.REDIS;
    }

    boolean isSql() {
        return !serversOwn.isEmpty();
    }

    /** Holdfast in strict order. */
    public Holdfasts oursFair() {
        return ours.inStrictOrder();
    }

    List<Contestant> withoutServersOwn() {
        return concat(List.of(raw, ours), peers);
    }

    /** All with their default settings. */
    public List<Contestant> all() {
        return concat(withoutServersOwn(), serversOwn);
    }

    /** All in strict order. */
    List<Contestant> fair() {
        return concat(List.of(oursFair()), fairPeers);
    }

    static List<Contestant> concat(List<? extends Contestant> first, List<? extends Contestant> second) {
        return Stream.<Contestant>concat(first.stream(), second.stream()).toList();
    }
}
