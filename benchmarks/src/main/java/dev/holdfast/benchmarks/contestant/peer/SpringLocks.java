package dev.holdfast.benchmarks.contestant.peer;

import com.zaxxer.hikari.HikariDataSource;
import dev.holdfast.benchmarks.harness.Contestant;
import dev.holdfast.benchmarks.server.Database;
import dev.holdfast.benchmarks.server.Servers;
import io.lettuce.core.RedisURI;
import java.nio.file.Path;
import org.apache.curator.framework.CuratorFramework;
import org.springframework.core.io.ClassPathResource;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.integration.jdbc.lock.DefaultLockRepository;
import org.springframework.integration.jdbc.lock.JdbcLockRegistry;
import org.springframework.integration.redis.util.RedisLockRegistry;
import org.springframework.integration.redis.util.RedisLockRegistry.RedisLockType;
import org.springframework.integration.zookeeper.lock.ZookeeperLockRegistry;
import org.springframework.jdbc.datasource.init.ResourceDatabasePopulator;
import org.springframework.jdbc.support.JdbcTransactionManager;

/** The registries of Spring Integration, with their default settings, as a program sets them up. */
public final class SpringLocks {

    public static final Contestant ON_REDIS_SPINNING =
            new Peer("spring-spin", place -> onRedis(place, RedisLockType.SPIN_LOCK));
    public static final Contestant ON_REDIS_NOTIFIED =
            new Peer("spring-pubsub", place -> onRedis(place, RedisLockType.PUB_SUB_LOCK));
    public static final Contestant ON_POSTGRESQL = onSql(Servers.Kind.POSTGRESQL, "schema-postgresql.sql");
    public static final Contestant ON_MARIADB = onSql(Servers.Kind.MARIADB, "schema-mysql.sql");
    public static final Contestant ON_ZOOKEEPER = new Peer("spring", SpringLocks::onZooKeeper);

    private static final String SCRIPTS = "org/springframework/integration/jdbc/";

    private SpringLocks() {}

    private static Contestant.Client onRedis(Path place, RedisLockType type) {
        RedisURI uri = RedisURI.create(Servers.address(Servers.Kind.REDIS, place));
        LettuceConnectionFactory factory =
                new LettuceConnectionFactory(new RedisStandaloneConfiguration(uri.getHost(), uri.getPort()));
        factory.afterPropertiesSet();
        factory.start();
        RedisLockRegistry registry = new RedisLockRegistry(factory, "locks");
        registry.setRedisLockType(type);
        return Contestant.Client.of(name -> PeerMutex.of(registry.obtain(name)), () -> {
            registry.destroy();
            factory.destroy();
        });
    }

    /** @param script that makes its tables, as it ships */
    private static Contestant onSql(Servers.Kind kind, String script) {
        return new Peer("spring", place -> {
            Database database = Database.at(kind, place);
            HikariDataSource pool = database.pool();
            database.once(
                    script, () -> new ResourceDatabasePopulator(new ClassPathResource(SCRIPTS + script)).execute(pool));
            DefaultLockRepository repository = new DefaultLockRepository(pool);
            repository.setTransactionManager(new JdbcTransactionManager(pool));
            repository.afterPropertiesSet();
            repository.afterSingletonsInstantiated();
            repository.start();
            JdbcLockRegistry registry = new JdbcLockRegistry(repository);
            return Contestant.Client.of(name -> PeerMutex.of(registry.obtain(name)), () -> {
                repository.close();
                pool.close();
            });
        });
    }

    private static Contestant.Client onZooKeeper(Path place) {
        CuratorFramework client = CuratorLocks.connected(place);
        ZookeeperLockRegistry registry = new ZookeeperLockRegistry(client, "/spring");
        return Contestant.Client.of(name -> PeerMutex.of(registry.obtain(name.replace('/', '-'))), () -> {
            registry.destroy();
            client.close();
        });
    }
}
