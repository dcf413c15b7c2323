package dev.holdfast.store.redis;

import dev.holdfast.spi.LockStore;
import dev.holdfast.spi.ResourceName;
import dev.holdfast.store.redis.script.BucketLayout;
import dev.holdfast.store.redis.script.Script;
import dev.holdfast.testkit.StoreUnderTest;
import io.lettuce.core.LettuceFutures;
import io.lettuce.core.RedisFuture;
import io.lettuce.core.cluster.api.async.RedisAdvancedClusterAsyncCommands;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BiFunction;

/** Two stores on a cluster, in a namespace of their own. */
final class ClusterUnderTest implements StoreUnderTest {

    /**
     * On a clock that the tests move there is one to set in each bucket, and a client of the kit has a session in each.
     */
    private static final int FEW_BUCKETS = 4;

    private static final AtomicInteger NAMESPACES = new AtomicInteger();

    private final String namespace = "cluster-" + NAMESPACES.incrementAndGet();
    private final boolean hasClock;
    private final BucketLayout layout;
    private final RedisStore first;
    private final RedisStore second;

    static ClusterUnderTest inRealTime() {
        return new ClusterUnderTest(Script.COMMANDS, false, FEW_BUCKETS);
    }

    static ClusterUnderTest onManualTime() {
        return new ClusterUnderTest(RedisUnderTest.onManualTime(Script.COMMANDS.text()), true, FEW_BUCKETS);
    }

    private ClusterUnderTest(Script script, boolean hasClock, int buckets) {
        this.hasClock = hasClock;
        this.layout = new BucketLayout(namespace, buckets);
        if (hasClock) {
            String now = Long.toString(ChronoUnit.MICROS.between(Instant.EPOCH, Instant.now()));
            inEachBucket((hand, clock) -> hand.set(clock, now));
        }
        this.first = open(script, buckets);
        this.second = open(script, buckets);
    }

    private RedisStore open(Script script, int buckets) {
        return TestCluster.builder(TestCluster.shared())
                .namespace(namespace)
                .buckets(buckets)
                .script(script)
                .open();
    }

    private void inEachBucket(
            BiFunction<RedisAdvancedClusterAsyncCommands<String, String>, String, RedisFuture<?>> work) {
        RedisFuture<?>[] all = new RedisFuture<?>[layout.buckets()];
        for (int bucket = 0; bucket < all.length; bucket++) {
            String clock = new String(layout.keys(bucket)[0], StandardCharsets.US_ASCII) + "clock";
            all[bucket] = work.apply(TestCluster.hand().async(), clock);
        }
        if (!LettuceFutures.awaitAll(1, TimeUnit.MINUTES, all)) {
            throw new IllegalStateException("The clocks of the buckets could not be set");
        }
    }

    @Override
    public LockStore first() {
        return first;
    }

    @Override
    public LockStore second() {
        return second;
    }

    @Override
    public Optional<ManualClock> clock() {
        return hasClock ? Optional.of(this::advance) : Optional.empty();
    }

    private void advance(Duration by) {
        inEachBucket((hand, clock) -> hand.incrby(clock, by.toNanos() / 1_000));
    }

    @Override
    public Duration shortTtl() {
        return Duration.ofMillis(500);
    }

    @Override
    public boolean forgetIdle() {
        return true;
    }

    @Override
    public boolean damage(ResourceName name) {
        String key = new String(layout.keys(layout.bucketOf(name))[BucketLayout.NAMES], StandardCharsets.US_ASCII);
        TestCluster.hand().sync().hset(key, name.value(), "rubbish");
        return true;
    }

    @Override
    public void close() {
        first.close();
        second.close();
    }
}
