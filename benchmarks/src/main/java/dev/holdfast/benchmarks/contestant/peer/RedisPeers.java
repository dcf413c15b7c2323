package dev.holdfast.benchmarks.contestant.peer;

import dev.holdfast.benchmarks.harness.Contestant;
import dev.holdfast.benchmarks.server.Servers;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.ScriptOutputType;
import io.lettuce.core.SetArgs;
import io.lettuce.core.api.sync.RedisCommands;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.Lock;
import java.util.function.BiFunction;
import org.redisson.Redisson;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.integration.redis.util.RedisLockRegistry;
import org.springframework.integration.redis.util.RedisLockRegistry.RedisLockType;

/** Locks of others on Redis, with their default settings. */
public final class RedisPeers {

    /** A key with a lease, deleted by a script, on one connection that pipelines the commands of all threads. */
    public static final Contestant RAW = new Peer("raw", RedisPeers::raw);

    public static final Contestant REDISSON = redisson("redisson", RedissonClient::getLock);
    public static final Contestant REDISSON_FAIR = redisson("redisson-fair", RedissonClient::getFairLock);
    public static final Contestant REDISSON_SPIN = redisson("redisson-spin", RedissonClient::getSpinLock);
    public static final Contestant SPRING_SPIN =
            new Peer("spring-spin", place -> spring(place, RedisLockType.SPIN_LOCK));
    public static final Contestant SPRING_PUBSUB =
            new Peer("spring-pubsub", place -> spring(place, RedisLockType.PUB_SUB_LOCK));

    private static final SetArgs IF_ABSENT = SetArgs.Builder.nx().px(30_000);
    private static final String DELETE_IF_OURS =
            "if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('del', KEYS[1]) else return 0 end";

    private RedisPeers() {}

    private static Contestant.Client raw(Path place) {
        RedisClient client = RedisClient.create(RedisURI.create(Servers.address(Servers.Kind.REDIS, place)));
        RedisCommands<String, String> commands = client.connect().sync();
        String digest = commands.scriptLoad(DELETE_IF_OURS);
        return Contestant.Client.of(
                name -> raw(commands, digest, name), () -> client.shutdown(Duration.ZERO, Duration.ofSeconds(1)));
    }

    private static Contestant.Mutex raw(RedisCommands<String, String> commands, String digest, String name) {
        String[] keys = {name};
        String owner = PeerMutex.newOwner();
        AtomicLong pairs = new AtomicLong();
        return PeerMutex.of(
                () -> {
                    String value = owner + "-" + pairs.incrementAndGet();
                    PeerMutex.spin(() -> commands.set(name, value, IF_ABSENT) != null);
                    return value;
                },
                value -> {
                    Long deleted = commands.evalsha(digest, ScriptOutputType.INTEGER, keys, value);
                    PeerMutex.requireOurs(deleted == 1);
                });
    }

    private static Contestant redisson(String title, BiFunction<RedissonClient, String, ? extends Lock> lock) {
        return new Peer(title, place -> {
            Config config = new Config();
            config.useSingleServer().setAddress(Servers.address(Servers.Kind.REDIS, place));
            RedissonClient client = Redisson.create(config);
            return Contestant.Client.of(
                    name -> PeerMutex.of(lock.apply(client, name)), () -> client.shutdown(0, 1, TimeUnit.SECONDS));
        });
    }

    private static Contestant.Client spring(Path place, RedisLockType type) {
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
}
