package dev.holdfast.benchmarks.contestant.peer;

import dev.holdfast.benchmarks.harness.Contestant;
import dev.holdfast.benchmarks.server.Servers;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.redisson.Redisson;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;

/** The locks of Redisson, with its default settings. */
public enum Redissons implements Contestant {
    LOCK("redisson") {
        @Override
        RLock lock(RedissonClient client, String name) {
            return client.getLock(name);
        }
    },
    FAIR("redisson-fair") {
        @Override
        RLock lock(RedissonClient client, String name) {
            return client.getFairLock(name);
        }
    },
    SPIN("redisson-spin") {
        @Override
        RLock lock(RedissonClient client, String name) {
            return client.getSpinLock(name);
        }
    };

    private final String title;

    Redissons(String title) {
        this.title = title;
    }

    abstract RLock lock(RedissonClient client, String name);

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
        Config config = new Config();
        config.useSingleServer().setAddress(Servers.address(Servers.Kind.REDIS, place));
        return new RedissonLocks(this, Redisson.create(config));
    }

    private record RedissonLocks(Redissons kind, RedissonClient client) implements Client {

        @Override
        public Mutex mutex(String name) {
            return new LockMutex(kind.lock(client, name));
        }

        @Override
        public void close() {
            client.shutdown(0, 1, TimeUnit.SECONDS);
        }
    }
}
