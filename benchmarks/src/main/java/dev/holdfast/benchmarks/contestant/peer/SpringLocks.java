package dev.holdfast.benchmarks.contestant.peer;

import dev.holdfast.benchmarks.harness.Contestant;
import dev.holdfast.benchmarks.server.Servers;
import io.lettuce.core.RedisURI;
import java.nio.file.Path;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.integration.redis.util.RedisLockRegistry;
import org.springframework.integration.redis.util.RedisLockRegistry.RedisLockType;

/** The registry of Spring Integration, in both modes, with its default settings. */
public enum SpringLocks implements Contestant {
    SPIN("spring-spin", RedisLockType.SPIN_LOCK),
    PUB_SUB("spring-pubsub", RedisLockType.PUB_SUB_LOCK);

    private final String title;
    private final RedisLockType type;

    SpringLocks(String title, RedisLockType type) {
        this.title = title;
        this.type = type;
    }

    @Override
    public String title() {
        return title;
    }

    @Override
    public boolean isPeer() {
        return true;
    }

    @Override
    public Client connect(Path place) {
        RedisURI uri = RedisURI.create(Servers.address(Servers.Kind.REDIS, place));
        LettuceConnectionFactory factory =
                new LettuceConnectionFactory(new RedisStandaloneConfiguration(uri.getHost(), uri.getPort()));
        factory.afterPropertiesSet();
        factory.start();
        RedisLockRegistry registry = new RedisLockRegistry(factory, "locks");
        registry.setRedisLockType(type);
        return new SpringClient(factory, registry);
    }

    private record SpringClient(LettuceConnectionFactory factory, RedisLockRegistry registry) implements Client {

        @Override
        public Mutex mutex(String name) {
            return new LockMutex(registry.obtain(name));
        }

        @Override
        public void close() {
            registry.destroy();
            factory.destroy();
        }
    }
}
