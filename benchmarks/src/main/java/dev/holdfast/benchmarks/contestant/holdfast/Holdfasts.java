package dev.holdfast.benchmarks.contestant.holdfast;

import com.google.errorprone.annotations.Immutable;
import dev.holdfast.Holdfast;
import dev.holdfast.benchmarks.harness.Contestant;
import dev.holdfast.benchmarks.server.Database;
import dev.holdfast.benchmarks.server.Servers;
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

/** Holdfast on its stores. */
public enum Holdfasts implements Contestant {
    MEMORY("memory", place -> new ReferenceStore()),
    SQLITE_FULL("sqlite-full", place -> onSqlite(SqliteStore.Synchronous.FULL, place)),
    SQLITE_NORMAL("sqlite-normal", place -> onSqlite(SqliteStore.Synchronous.NORMAL, place)),
    REDIS(
            "holdfast",
            place -> RedisStore.builder(RedisURI.create(Servers.address(Servers.Kind.REDIS, place)))
                    .connectTimeout(FairClients.CONNECT_TIMEOUT)
                    .open()),
    REDIS_FAIR(REDIS, FairClients::onRedis),
    POSTGRESQL("holdfast", place -> onSql(Servers.Kind.POSTGRESQL, place)),
    POSTGRESQL_FAIR(POSTGRESQL, place -> FairClients.onSql(POSTGRESQL.open(place), Servers.Kind.POSTGRESQL, place)),
    MARIADB("holdfast", place -> onSql(Servers.Kind.MARIADB, place)),
    MARIADB_FAIR(MARIADB, place -> FairClients.onSql(MARIADB.open(place), Servers.Kind.MARIADB, place)),
    ETCD(
            "holdfast",
            place -> EtcdStore.builder(Servers.address(Servers.Kind.ETCD, place))
                    .connectTimeout(FairClients.CONNECT_TIMEOUT)
                    .open()),
    ETCD_FAIR(ETCD, FairClients::onEtcd),
    ZOOKEEPER(
            "holdfast",
            place -> ZooKeeperStore.builder(Servers.address(Servers.Kind.ZOOKEEPER, place))
                    .connectTimeout(FairClients.CONNECT_TIMEOUT)
                    .open()),
    ZOOKEEPER_FAIR(ZOOKEEPER, place -> FairClients.onZooKeeper(ZOOKEEPER.open(place), place));

    @Immutable
    private interface Opening {
        LockStore open(Path place);
    }

    @Immutable
    private interface Connecting {
        Client connect(Path place);
    }

    private final String title;
    private final Opening opening;
    private final Connecting connecting;

    /** With default settings. */
    Holdfasts(String title, Opening opening) {
        this.title = title;
        this.opening = opening;
        this.connecting = place -> connect(opening.open(place));
    }

    /** In strict order, on the store of another. */
    Holdfasts(Holdfasts withDefaults, Connecting connecting) {
        this.title = withDefaults.title + "-fair";
        this.opening = withDefaults.opening;
        this.connecting = connecting;
    }

    public LockStore open(Path place) {
        return opening.open(place);
    }

    @Override
    public Client connect(Path place) {
        return connecting.connect(place);
    }

    private static Client connect(LockStore store) {
        return new HoldfastClient(store, Holdfast.builder(store).build());
    }

    private static LockStore onSqlite(SqliteStore.Synchronous synchronous, Path place) {
        return SqliteStore.builder(place.resolve("locks.db"))
                .synchronous(synchronous)
                .open();
    }

    private static LockStore onSql(Servers.Kind kind, Path place) {
        return new JdbcStoreProvider()
                .open(StoreUri.parse(Database.at(kind, place).storeUri()));
    }

    @Override
    public String title() {
        return title;
    }

    /** A client of a store, which it closes. */
    record HoldfastClient(LockStore store, Holdfast holdfast) implements Client {

        @Override
        public Mutex mutex(String name) {
            return new HoldMutex(holdfast.lock(name)::acquire);
        }

        @Override
        public void close() {
            holdfast.close();
            store.close();
        }
    }
}
