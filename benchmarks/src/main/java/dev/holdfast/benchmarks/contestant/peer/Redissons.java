package dev.holdfast.benchmarks.contestant.peer;

import dev.holdfast.benchmarks.harness.Contestant;
import dev.holdfast.benchmarks.server.Servers;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Lock;
import java.util.function.BiFunction;
import org.redisson.Redisson;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;

/** The locks of Redisson, with its default settings. */
public final class Redissons {

    public static final Contestant LOCK = peer("redisson", RedissonClient::getLock);
    public static final Contestant FAIR = peer("redisson-fair", RedissonClient::getFairLock);
    public static final Contestant SPIN = peer("redisson-spin", RedissonClient::getSpinLock);

    private Redissons() {}

    private static Contestant peer(String title, BiFunction<RedissonClient, String, ? extends Lock> lock) {
        return new Peer(title, place -> {
            Config config = new Config();
            config.useSingleServer().setAddress(Servers.address(Servers.Kind.REDIS, place));
            RedissonClient client = Redisson.create(config);
            return Contestant.Client.of(
                    name -> PeerMutex.of(lock.apply(client, name)), () -> client.shutdown(0, 1, TimeUnit.SECONDS));
        });
    }
}
