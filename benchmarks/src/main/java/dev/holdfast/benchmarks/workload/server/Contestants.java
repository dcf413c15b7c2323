package dev.holdfast.benchmarks.workload.server;

import dev.holdfast.benchmarks.contestant.holdfast.Holdfasts;
import dev.holdfast.benchmarks.contestant.peer.CuratorLocks;
import dev.holdfast.benchmarks.contestant.peer.JetcdLocks;
import dev.holdfast.benchmarks.contestant.peer.RawLocks;
import dev.holdfast.benchmarks.contestant.peer.Redissons;
import dev.holdfast.benchmarks.contestant.peer.SessionLocks;
import dev.holdfast.benchmarks.contestant.peer.ShedLocks;
import dev.holdfast.benchmarks.contestant.peer.SpringLocks;
import dev.holdfast.benchmarks.harness.Contestant;
import dev.holdfast.benchmarks.server.Database;
import dev.holdfast.benchmarks.server.Servers;
import dev.holdfast.benchmarks.workload.Unit;
import dev.holdfast.benchmarks.workload.Workload;
import java.util.ArrayList;
import java.util.List;

/**
 * The locks that are compared on one kind of server.
 *
 * @param name the prefix of the workloads' ids
 * @param raw the lock that one would write by hand: the floor
 * @param ours Holdfast with its default settings
 * @param oursFair Holdfast in strict order
 * @param store the store of ours
 * @param peers other libraries with their default settings, whose locks expire some time after their owner
 * @param fairPeers other libraries in strict order
 * @param serversOwn locks of the server itself, which end with a connection
 * @param keepers the peers that keep their locks alive
 * @param counts what the server counts for each pair
 * @param texts for the page
 */
public record Contestants(
        Servers.Kind server,
        String name,
        Contestant raw,
        Contestant ours,
        Contestant oursFair,
        Holdfasts store,
        List<Contestant> peers,
        List<Contestant> fairPeers,
        List<Contestant> serversOwn,
        List<Contestant> keepers,
        List<Workload.Column> counts,
        Texts texts) {

    /**
     * Text for the page; Markdown.
     *
     * @param settings the settings of all contestants
     * @param counts what the server counts
     * @param ping the smallest request, which shows how long the server takes to reply
     */
    record Texts(String settings, String counts, String ping) {}

    private static final String SQL_PING = "an `UPDATE` of one small row, which is committed by itself";

    private static final List<Workload.Column> SQL_COUNTS = List.of(
            new Workload.Column("statements", Unit.COUNT, "commands"),
            new Workload.Column("commits", Unit.COUNT, "commits"));

    public static final Contestants REDIS = new Contestants(
            Servers.Kind.REDIS,
            "redis",
            RawLocks.ON_REDIS,
            Holdfasts.REDIS,
            Holdfasts.REDIS_FAIR,
            Holdfasts.REDIS,
            List.of(Redissons.LOCK, Redissons.SPIN, SpringLocks.ON_REDIS_SPINNING, SpringLocks.ON_REDIS_NOTIFIED),
            List.of(Redissons.FAIR),
            List.of(),
            List.of(Redissons.LOCK),
            List.of(
                    new Workload.Column("commands", Unit.COUNT, "commands"),
                    new Workload.Column("in scripts", Unit.COUNT, "in scripts")),
            new Texts(
                    "All use one server with its default settings but that it writes nothing to the disk,"
                            + " and each its own default settings: Redisson renews its locks, the registry of Spring"
                            + " Integration does not. *raw* is `SET NX PX` and a script that compares and deletes, on"
                            + " one connection of Lettuce that all threads share, so that their commands follow each"
                            + " other without waiting; who finds the lock taken asks again at once.",
                    "*Commands* and *in scripts* are what the server has counted for a pair, sent by clients"
                            + " and run inside of scripts",
                    "a `PING`"));

    public static final Contestants POSTGRESQL = new Contestants(
            Servers.Kind.POSTGRESQL,
            "postgresql",
            RawLocks.ON_POSTGRESQL,
            Holdfasts.POSTGRESQL,
            Holdfasts.POSTGRESQL_FAIR,
            Holdfasts.POSTGRESQL,
            List.of(SpringLocks.ON_POSTGRESQL, ShedLocks.ON_POSTGRESQL),
            List.of(),
            List.of(SessionLocks.ON_POSTGRESQL),
            List.of(),
            SQL_COUNTS,
            new Texts(
                    settings("`INSERT ... ON CONFLICT DO NOTHING`", "advisory", "`pg_advisory_lock`")
                            + " The server flushes commits to the disk before it answers and has its"
                            + " default settings, but for more connections and `pg_stat_statements`,"
                            + " which counts; where a statement of Holdfast gives locks back for which"
                            + " nobody waits, and does nothing else, that statement asks for an answer"
                            + " before the flush (ADR 18), which a lock by hand could do as well.",
                    "*Statements* is what the server has counted for a pair, `BEGIN` and `COMMIT` included"
                            + " but not what failed, and *commits* how many transactions wrote something",
                    SQL_PING));

    public static final Contestants MARIADB = new Contestants(
            Servers.Kind.MARIADB,
            "mariadb",
            RawLocks.ON_MARIADB,
            Holdfasts.MARIADB,
            Holdfasts.MARIADB_FAIR,
            Holdfasts.MARIADB,
            List.of(SpringLocks.ON_MARIADB, ShedLocks.ON_MARIADB),
            List.of(),
            List.of(SessionLocks.ON_MARIADB),
            List.of(),
            SQL_COUNTS,
            new Texts(
                    settings("`INSERT IGNORE`", "get-lock", "`GET_LOCK`")
                            + " The server flushes each commit to the disk and has its default"
                            + " settings, so it writes no binary log, but for more connections.",
                    "*Statements* is what the server has counted for a pair, and *commits* how many"
                            + " transactions wrote something",
                    SQL_PING));

    private static final List<Workload.Column> WRITE_COUNTS = List.of(
            new Workload.Column("requests", Unit.COUNT, "commands"),
            new Workload.Column("writes", Unit.COUNT, "commits"));

    public static final Contestants ETCD = new Contestants(
            Servers.Kind.ETCD,
            "etcd",
            RawLocks.ON_ETCD,
            Holdfasts.ETCD,
            Holdfasts.ETCD_FAIR,
            Holdfasts.ETCD,
            List.of(JetcdLocks.LOCK),
            List.of(),
            List.of(),
            List.of(),
            WRITE_COUNTS,
            new Texts(
                    "All use one server on this machine, which flushes each write to the disk and has its"
                            + " default settings, but is compacted each minute. *raw* is a transaction that puts a key"
                            + " if it is not there, and one that deletes it if it is ours, on one channel of"
                            + " grpc-java; who finds the key there asks again at once. *jetcd* is its lock, which is"
                            + " the one of the server; its owner is a lease, of which each thread has one that is kept"
                            + " alive. The server serves in the order of arrival, so that this lock is fair.",
                    "*Requests* are the messages that the server has received for a pair, and *writes* how"
                            + " many of its proposals were committed, each of which is a quorum write",
                    "a put of one small key"));

    public static final Contestants ZOOKEEPER = new Contestants(
            Servers.Kind.ZOOKEEPER,
            "zookeeper",
            RawLocks.ON_ZOOKEEPER,
            Holdfasts.ZOOKEEPER,
            Holdfasts.ZOOKEEPER_FAIR,
            Holdfasts.ZOOKEEPER,
            List.of(
                    CuratorLocks.MUTEX,
                    CuratorLocks.SEMAPHORE_MUTEX,
                    CuratorLocks.SEMAPHORE,
                    CuratorLocks.WRITE_LOCK,
                    SpringLocks.ON_ZOOKEEPER),
            List.of(),
            List.of(),
            List.of(),
            WRITE_COUNTS,
            new Texts(
                    "All use one server on this machine, which flushes each write to the disk and has its"
                            + " default settings. *raw* creates an ephemeral node and deletes it, on one session of"
                            + " ZooKeeper's own client; who finds the node there asks again at once. *curator* is its"
                            + " `InterProcessMutex`, *curator-semaphore-mutex* its `InterProcessSemaphoreMutex`,"
                            + " *curator-semaphore* its `InterProcessSemaphoreV2` with one lease, *curator-write-lock*"
                            + " the write lock of its `InterProcessReadWriteLock`, and *spring* the"
                            + " `ZookeeperLockRegistry` of Spring Integration. All of them serve in the order of"
                            + " arrival.",
                    "*Requests* are the packets that the server has received for a pair, and *writes* how"
                            + " many transactions it made, each of which is a quorum write",
                    "a write of one small node"));

    private static String settings(String insert, String own, String function) {
        return String.format(
                "All use one server on this machine, and each its own default settings; Holdfast makes its"
                        + " connections itself, the others have a pool of HikariCP with %d connections in each process."
                        + " *raw* is %s and `DELETE`, each committed by itself; who finds the row there asks again at"
                        + " once. *spring* is the `JdbcLockRegistry` of Spring Integration with its"
                        + " `DefaultLockRepository`, *shedlock* the JdbcTemplate provider of ShedLock by the database's"
                        + " time; that does not wait, so who finds the lock taken asks again after %d ms. Neither"
                        + " renews its locks. *%s* is %s, a lock that the server has for a connection: it has no lease,"
                        + " writes nothing, and takes a connection for each owner and each waiter.",
                Database.POOL, insert, ShedLocks.PAUSE.toMillis(), own, function);
    }

    public String title() {
        return server.title();
    }

    private static List<Contestant> concat(List<Contestant> first, List<Contestant> second) {
        List<Contestant> all = new ArrayList<>(first);
        all.addAll(second);
        return all;
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
        return concat(List.of(oursFair), fairPeers);
    }
}
