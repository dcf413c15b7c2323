package dev.holdfast.spi;

import dev.holdfast.spi.StoreDescription.Scheme;
import java.util.List;

/**
 * The stores of this release, whether or not their modules are on the class path: a tool that meets the URI of a store
 * that is not there can name the artifact that is missing. Their providers take their descriptions from here.
 */
public final class KnownStores {

    /**
     * A store of this release.
     *
     * @param provider the class name of its {@link dev.holdfast.spi.StoreProvider}
     * @param description the provider's {@linkplain StoreProvider#description() description}
     */
    public record KnownStore(String provider, StoreDescription description) {}

    /** All of them, the usual ones first. */
    public static final List<KnownStore> ALL = List.of(
            new KnownStore(
                    "dev.holdfast.store.sqlite.SqliteStoreProvider",
                    StoreDescription.of(
                            "dev.holdfast:holdfast-sqlite", Scheme.of("sqlite").otherNames("file", "sqlite3"))),
            new KnownStore(
                    "dev.holdfast.store.jdbc.JdbcStoreProvider",
                    StoreDescription.of(
                                    "dev.holdfast:holdfast-jdbc",
                                    Scheme.of("postgresql").port(5432).otherNames("postgres", "pg"),
                                    Scheme.of("mariadb").port(3306).otherNames("maria"),
                                    Scheme.of("mysql"))
                            .connectionType("javax.sql.DataSource")),
            new KnownStore(
                    "dev.holdfast.store.redis.RedisStoreProvider",
                    StoreDescription.of(
                                    "dev.holdfast:holdfast-redis",
                                    Scheme.of("redis").port(6379).otherNames("valkey"),
                                    Scheme.of("rediss"),
                                    Scheme.of("redis-sentinel").port(26379).otherNames("sentinel"),
                                    Scheme.of("rediss-sentinel"),
                                    Scheme.of("redis-cluster"),
                                    Scheme.of("rediss-cluster"))
                            .connectionType(
                                    "org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory")),
            new KnownStore(
                    "dev.holdfast.store.etcd.EtcdStoreProvider",
                    StoreDescription.of(
                                    "dev.holdfast:holdfast-etcd",
                                    Scheme.of("etcd")
                                            .port(2379)
                                            .images("etcd", "bitnami/etcd", "coreos/etcd", "etcd-development/etcd"),
                                    Scheme.of("etcds"))
                            .connectionType("io.grpc.ManagedChannel")),
            new KnownStore(
                    "dev.holdfast.store.zookeeper.ZooKeeperStoreProvider",
                    StoreDescription.of(
                                    "dev.holdfast:holdfast-zookeeper",
                                    Scheme.of("zookeeper")
                                            .port(2181)
                                            .otherNames("zk")
                                            .images("zookeeper", "bitnami/zookeeper"),
                                    Scheme.of("zookeepers"))
                            .connectionType("org.apache.curator.framework.CuratorFramework")),
            new KnownStore(
                    "dev.holdfast.store.quorum.QuorumStoreProvider",
                    StoreDescription.of("dev.holdfast:holdfast-quorum", Scheme.of("quorum"))),
            new KnownStore(
                    "dev.holdfast.store.memory.MemoryStoreProvider",
                    StoreDescription.of("dev.holdfast:holdfast-memory", Scheme.of("memory"))));

    private KnownStores() {}
}
