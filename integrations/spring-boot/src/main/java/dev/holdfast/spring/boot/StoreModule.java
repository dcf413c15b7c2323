package dev.holdfast.spring.boot;

import java.util.Arrays;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.springframework.util.ClassUtils;

/** The artifacts that stores are in: what the application has to add if it names a store that is not there. */
enum StoreModule {
    MEMORY("holdfast-memory", "dev.holdfast.store.memory.ReferenceStore", null, "memory"),
    SQLITE("holdfast-sqlite", "dev.holdfast.store.sqlite.SqliteStore", null, "sqlite"),
    JDBC(
            "holdfast-jdbc",
            "dev.holdfast.store.jdbc.JdbcStore",
            "javax.sql.DataSource",
            "postgresql",
            "mysql",
            "mariadb"),
    REDIS(
            "holdfast-redis",
            "dev.holdfast.store.redis.RedisStore",
            "org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory",
            "redis",
            "rediss",
            "redis-sentinel",
            "rediss-sentinel",
            "redis-cluster",
            "rediss-cluster"),
    ETCD("holdfast-etcd", "dev.holdfast.store.etcd.EtcdStore", "io.grpc.ManagedChannel", "etcd", "etcds"),
    ZOOKEEPER(
            "holdfast-zookeeper",
            "dev.holdfast.store.zookeeper.ZooKeeperStore",
            "org.apache.curator.framework.CuratorFramework",
            "zookeeper",
            "zookeepers"),
    QUORUM("holdfast-quorum", "dev.holdfast.store.quorum.QuorumStore", null, "quorum");

    private final String artifact;
    private final String storeClass;
    private final @Nullable String connectionClass;
    // Of no class that Error Prone knows to be immutable, as Set.of is.
    @SuppressWarnings("ImmutableEnumChecker")
    private final Set<String> schemes;

    StoreModule(String artifact, String storeClass, @Nullable String connectionClass, String... schemes) {
        this.artifact = artifact;
        this.storeClass = storeClass;
        this.connectionClass = connectionClass;
        this.schemes = Set.of(schemes);
    }

    /** The module whose stores have URIs of a scheme. */
    static Optional<StoreModule> ofScheme(String scheme) {
        return Arrays.stream(values())
                .filter(module -> module.schemes.contains(scheme))
                .findFirst();
    }

    /** As Maven and Gradle name it. */
    String coordinates() {
        return "dev.holdfast:" + artifact;
    }

    boolean isPresent(ClassLoader loader) {
        return ClassUtils.isPresent(storeClass, loader);
    }

    /** The type of the beans that a store of this module can be opened on, if the application has that type. */
    Optional<Class<?>> connectionType(ClassLoader loader) {
        return connectionClass != null && ClassUtils.isPresent(connectionClass, loader)
                ? Optional.of(ClassUtils.resolveClassName(connectionClass, loader))
                : Optional.empty();
    }
}
