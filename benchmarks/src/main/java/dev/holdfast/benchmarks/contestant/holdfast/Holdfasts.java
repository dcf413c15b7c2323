package dev.holdfast.benchmarks.contestant.holdfast;

import dev.holdfast.DistributedLock;
import dev.holdfast.Hold;
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
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** Holdfast on its stores. */
public enum Holdfasts implements Contestant {
    MEMORY("memory") {
        @Override
        public LockStore open(Path place) {
            return new ReferenceStore();
        }
    },
    SQLITE_FULL("sqlite-full") {
        @Override
        public LockStore open(Path place) {
            return SqliteStore.builder(place.resolve("locks.db"))
                    .synchronous(SqliteStore.Synchronous.FULL)
                    .open();
        }
    },
    SQLITE_NORMAL("sqlite-normal") {
        @Override
        public LockStore open(Path place) {
            return SqliteStore.builder(place.resolve("locks.db"))
                    .synchronous(SqliteStore.Synchronous.NORMAL)
                    .open();
        }
    },
    REDIS("holdfast") {
        @Override
        public LockStore open(Path place) {
            // Several processes start at once, which takes its time on a busy machine.
            return RedisStore.builder(RedisURI.create(Servers.address(Servers.Kind.REDIS, place)))
                    .connectTimeout(Duration.ofMinutes(1))
                    .open();
        }
    },
    REDIS_FAIR("holdfast-fair") {
        @Override
        public LockStore open(Path place) {
            return REDIS.open(place);
        }

        @Override
        public Client connect(Path place) {
            return FairClient.onRedis(place);
        }
    },
    POSTGRESQL("holdfast") {
        @Override
        public LockStore open(Path place) {
            return onSql(Servers.Kind.POSTGRESQL, place);
        }
    },
    POSTGRESQL_FAIR("holdfast-fair") {
        @Override
        public LockStore open(Path place) {
            return POSTGRESQL.open(place);
        }

        @Override
        public Client connect(Path place) {
            return FairClient.onSql(open(place), Servers.Kind.POSTGRESQL, place);
        }
    },
    MARIADB("holdfast") {
        @Override
        public LockStore open(Path place) {
            return onSql(Servers.Kind.MARIADB, place);
        }
    },
    MARIADB_FAIR("holdfast-fair") {
        @Override
        public LockStore open(Path place) {
            return MARIADB.open(place);
        }

        @Override
        public Client connect(Path place) {
            return FairClient.onSql(open(place), Servers.Kind.MARIADB, place);
        }
    },
    ETCD("holdfast") {
        @Override
        public LockStore open(Path place) {
            return EtcdStore.builder(Servers.address(Servers.Kind.ETCD, place))
                    .connectTimeout(Duration.ofMinutes(1))
                    .open();
        }
    },
    ETCD_FAIR("holdfast-fair") {
        @Override
        public LockStore open(Path place) {
            return ETCD.open(place);
        }

        @Override
        public Client connect(Path place) {
            return FairClient.onEtcd(place);
        }
    },
    ZOOKEEPER("holdfast") {
        @Override
        public LockStore open(Path place) {
            return ZooKeeperStore.builder(Servers.address(Servers.Kind.ZOOKEEPER, place))
                    .connectTimeout(Duration.ofMinutes(1))
                    .open();
        }
    },
    ZOOKEEPER_FAIR("holdfast-fair") {
        @Override
        public LockStore open(Path place) {
            return ZOOKEEPER.open(place);
        }

        @Override
        public Client connect(Path place) {
            return FairClient.onZooKeeper(open(place), place);
        }
    };

    private final String title;

    Holdfasts(String title) {
        this.title = title;
    }

    public abstract LockStore open(Path place);

    private static LockStore onSql(Servers.Kind kind, Path place) {
        return new JdbcStoreProvider()
                .open(StoreUri.parse(Database.at(kind, place).storeUri()));
    }

    @Override
    public Client connect(Path place) {
        LockStore store = open(place);
        return new HoldfastClient(store, Holdfast.builder(store).build());
    }

    @Override
    public String title() {
        return title;
    }

    /** A client of a store, which it closes. */
    record HoldfastClient(LockStore store, Holdfast holdfast) implements Client {

        @Override
        public Mutex mutex(String name) {
            return new HoldMutex(holdfast.lock(name));
        }

        @Override
        public void close() {
            holdfast.close();
            store.close();
        }
    }

    /** Takes the hold and its token each time, as a user does who sends the token along. */
    private static final class HoldMutex implements Mutex {

        private final DistributedLock lock;
        private @Nullable Hold hold;

        HoldMutex(DistributedLock lock) {
            this.lock = lock;
        }

        @Override
        public long acquire() throws InterruptedException {
            Hold granted = lock.acquire();
            hold = granted;
            return granted.fencingToken();
        }

        @Override
        public void release() {
            Hold held = hold;
            hold = null;
            if (held != null) {
                held.close();
            }
        }
    }
}
