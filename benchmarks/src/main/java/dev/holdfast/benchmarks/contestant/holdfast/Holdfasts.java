package dev.holdfast.benchmarks.contestant.holdfast;

import dev.holdfast.Holdfast;
import dev.holdfast.benchmarks.harness.Contestant;
import dev.holdfast.benchmarks.server.Database;
import dev.holdfast.benchmarks.server.Servers;
import dev.holdfast.spi.Command;
import dev.holdfast.spi.LockStore;
import dev.holdfast.spi.StoreUri;
import dev.holdfast.store.etcd.EtcdStore;
import dev.holdfast.store.jdbc.JdbcStoreProvider;
import dev.holdfast.store.memory.ReferenceStore;
import dev.holdfast.store.redis.RedisStore;
import dev.holdfast.store.sqlite.SqliteStore;
import dev.holdfast.store.zookeeper.ZooKeeperStore;
import io.lettuce.core.RedisURI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.function.UnaryOperator;

/**
 * Holdfast on a store.
 *
 * @param settings of the client
 * @param counts whether the client counts its commands
 */
public record Holdfasts(String title, Opening opening, UnaryOperator<Holdfast.Builder> settings, boolean counts)
        implements Contestant {

    /** A server may be slow to accept on a busy machine, where several processes start at once. */
    private static final Duration CONNECT_TIMEOUT = Duration.ofMinutes(1);

    public static final Holdfasts MEMORY = of("memory", place -> new ReferenceStore());
    public static final Holdfasts SQLITE_FULL = onSqlite("sqlite-full", SqliteStore.Synchronous.FULL);
    public static final Holdfasts SQLITE_NORMAL = onSqlite("sqlite-normal", SqliteStore.Synchronous.NORMAL);
    public static final Holdfasts REDIS = of(
            "holdfast",
            place -> RedisStore.builder(RedisURI.create(Servers.address(Servers.Kind.REDIS, place)))
                    .connectTimeout(CONNECT_TIMEOUT)
                    .open());
    public static final Holdfasts POSTGRESQL = onSql(Servers.Kind.POSTGRESQL);
    public static final Holdfasts MARIADB = onSql(Servers.Kind.MARIADB);
    public static final Holdfasts ETCD = of(
            "holdfast",
            place -> EtcdStore.builder(Servers.address(Servers.Kind.ETCD, place))
                    .connectTimeout(CONNECT_TIMEOUT)
                    .open());
    public static final Holdfasts ZOOKEEPER = of(
            "holdfast",
            place -> ZooKeeperStore.builder(Servers.address(Servers.Kind.ZOOKEEPER, place))
                    .connectTimeout(CONNECT_TIMEOUT)
                    .open());

    /** Opens the store of the cell that runs in a directory. */
    public interface Opening {
        LockStore open(Path place);
    }

    private static Holdfasts of(String title, Opening opening) {
        return new Holdfasts(title, opening, UnaryOperator.identity(), false);
    }

    private static Holdfasts onSqlite(String title, SqliteStore.Synchronous synchronous) {
        return of(
                title,
                place -> SqliteStore.builder(place.resolve("locks.db"))
                        .synchronous(synchronous)
                        .open());
    }

    private static Holdfasts onSql(Servers.Kind kind) {
        return of(
                "holdfast",
                place -> new JdbcStoreProvider()
                        .open(StoreUri.parse(Database.at(kind, place).storeUri())));
    }

    /** In strict order. */
    public Holdfasts inStrictOrder() {
        return with("-fair", builder -> builder.cohortBudget(Duration.ZERO));
    }

    public Holdfasts with(String suffix, UnaryOperator<Holdfast.Builder> others) {
        return new Holdfasts(title + suffix, opening, others, counts);
    }

    public Holdfasts counted() {
        return new Holdfasts(title, opening, settings, true);
    }

    public LockStore open(Path place) {
        return opening.open(place);
    }

    @Override
    public Client connect(Path place) {
        LockStore store = counts ? new CountingStore(open(place)) : open(place);
        return new HoldfastClient(store, settings.apply(Holdfast.builder(store)).build());
    }

    /** A client of a store, which it closes. */
    private record HoldfastClient(LockStore store, Holdfast holdfast) implements Client {

        @Override
        public Mutex mutex(String name) {
            return new HoldMutex(holdfast.lock(name)::acquire);
        }

        @Override
        public Housekeeping housekeeping() {
            return store instanceof CountingStore counting
                    ? new Housekeeping(
                            counting.count(Command.KeepAlive.class),
                            counting.count(Command.Poll.class),
                            counting.count(Command.Audit.class))
                    : Housekeeping.NONE;
        }

        @Override
        public void close() {
            holdfast.close();
            store.close();
        }
    }
}
