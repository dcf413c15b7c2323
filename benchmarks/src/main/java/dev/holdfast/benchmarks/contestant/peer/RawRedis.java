package dev.holdfast.benchmarks.contestant.peer;

import dev.holdfast.benchmarks.harness.Contestant;
import dev.holdfast.benchmarks.server.Servers;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.ScriptOutputType;
import io.lettuce.core.SetArgs;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.api.sync.RedisCommands;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.ThreadLocalRandom;

/**
 * What one would write by hand: a key that is set if it is not there, and deleted by a script if it is still ours; on
 * one connection, on which the commands of many threads follow each other without waiting. Whoever finds the key there
 * asks again at once. It is neither kept alive nor fair, and has no tokens: to see what all that costs.
 */
public final class RawRedis implements Contestant {

    private static final String DELETE_IF_OURS =
            "if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('del', KEYS[1]) else return 0 end";

    @Override
    public String title() {
        return "raw";
    }

    @Override
    public Client connect(Path place) {
        RedisClient client = RedisClient.create(RedisURI.create(Servers.address(Servers.Kind.REDIS, place)));
        StatefulRedisConnection<String, String> connection = client.connect();
        return new RawClient(client, connection, connection.sync().scriptLoad(DELETE_IF_OURS));
    }

    private record RawClient(RedisClient client, StatefulRedisConnection<String, String> connection, String digest)
            implements Client {

        @Override
        public Mutex mutex(String name) {
            return new RawMutex(connection.sync(), digest, name);
        }

        @Override
        public Optional<Runnable> ping() {
            return Optional.of(() -> {
                var unused = connection.sync().ping();
            });
        }

        @Override
        public void close() {
            connection.close();
            client.shutdown(Duration.ZERO, Duration.ofSeconds(1));
        }
    }

    private static final class RawMutex implements Mutex {

        private static final SetArgs IF_FREE = SetArgs.Builder.nx().px(30_000);

        private final RedisCommands<String, String> commands;
        private final String digest;
        private final String[] keys;
        private final String owner =
                Long.toHexString(ThreadLocalRandom.current().nextLong());
        private long pairs;

        RawMutex(RedisCommands<String, String> commands, String digest, String name) {
            this.commands = commands;
            this.digest = digest;
            this.keys = new String[] {name};
        }

        @Override
        public long acquire() throws InterruptedException {
            String value = value(++pairs);
            while (commands.set(keys[0], value, IF_FREE) == null) {
                if (Thread.interrupted()) {
                    throw new InterruptedException();
                }
            }
            return NO_TOKEN;
        }

        @Override
        public void release() {
            Long deleted = commands.evalsha(digest, ScriptOutputType.INTEGER, keys, value(pairs));
            if (deleted != 1) {
                throw new IllegalStateException("the lock is not ours");
            }
        }

        private String value(long pair) {
            return owner + "-" + pair;
        }
    }
}
