package dev.holdfast.store.redis;

import dev.holdfast.Hold;
import dev.holdfast.Holdfast;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.SslOptions;
import java.io.File;
import java.time.Duration;

/** What {@code docs/stores/redis.md} and {@code redis-cluster.md} show. */
final class RedisExamples {

    private RedisExamples() {}

    /** What the examples write to. */
    interface Archive {
        void write(String report, long fencingToken);
    }

    static void open(Archive archive, String report) throws InterruptedException {
        try (Holdfast holdfast = Holdfast.connect("redis://:secret@cache.example.com:6379/2?namespace=shop");
                Hold hold = holdfast.lock("nightly-report").acquire()) {
            archive.write(report, hold.fencingToken());
        }
    }

    static void openCluster(Archive archive, String report) throws InterruptedException {
        try (Holdfast holdfast = Holdfast.connect("redis-cluster://:secret@node-1:6379,node-2:6379?namespace=shop");
                Hold hold = holdfast.lock("nightly-report").acquire()) {
            archive.write(report, hold.fencingToken());
        }
    }

    static RedisStore lend(RedisClient existing) {
        RedisStore store = RedisStore.builder(RedisURI.create("cache.example.com", 6379))
                .client(existing)
                .namespace("shop")
                .open();
        return store;
    }

    /** What the examples ask for a password. */
    interface Vault {
        char[] password();
    }

    static RedisStore secure(Vault vault, File authorities) {
        RedisStore store = RedisStore.builder(RedisURI.create("rediss://cache.example.com"))
                .password("locks", vault::password)
                .tls(SslOptions.builder().trustManager(authorities).build())
                .waitForReplicas(1, Duration.ofMillis(200))
                .open();
        return store;
    }
}
