package dev.holdfast.benchmarks.contestant.holdfast;

import dev.holdfast.Holdfast;
import dev.holdfast.benchmarks.harness.Contestant;
import dev.holdfast.benchmarks.server.Servers;
import dev.holdfast.store.redis.RedisStore;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.api.StatefulRedisConnection;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;

/** A client in strict order, on a driver that it shares with the one who measures what a round trip takes on it. */
record FairOnRedis(RedisClient driver, Holdfasts.HoldfastClient client, StatefulRedisConnection<String, String> probe)
        implements Contestant.Client {

    static Contestant.Client connect(Path place) {
        RedisURI uri = RedisURI.create(Servers.address(Servers.Kind.REDIS, place));
        RedisClient driver = RedisClient.create(uri);
        RedisStore store = RedisStore.builder(uri)
                .client(driver)
                .connectTimeout(Duration.ofMinutes(1))
                .open();
        Holdfast holdfast = Holdfast.builder(store).cohortBudget(Duration.ZERO).build();
        return new FairOnRedis(driver, new Holdfasts.HoldfastClient(store, holdfast), driver.connect());
    }

    @Override
    public Contestant.Mutex mutex(String name) {
        return client.mutex(name);
    }

    @Override
    public Optional<Runnable> ping() {
        return Optional.of(() -> {
            var unused = probe.sync().ping();
        });
    }

    @Override
    public void close() {
        client.close();
        probe.close();
        driver.shutdown(Duration.ZERO, Duration.ofSeconds(1));
    }
}
