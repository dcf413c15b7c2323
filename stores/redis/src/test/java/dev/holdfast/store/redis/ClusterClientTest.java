package dev.holdfast.store.redis;

import static dev.holdfast.store.redis.Asking.until;
import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.DistributedCountDownLatch;
import dev.holdfast.Hold;
import dev.holdfast.Holdfast;
import dev.holdfast.MultiHold;
import dev.holdfast.Permits;
import dev.holdfast.servers.RedisServer;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** What a user of the client sees on a cluster. */
@Tag("server")
class ClusterClientTest {

    private static final Pattern CALLS = Pattern.compile("cmdstat_evalsha:calls=(\\d+)");

    private static Holdfast client(String namespace) {
        return builder(namespace).build();
    }

    private static Holdfast.Builder builder(String namespace) {
        return Holdfast.builder(TestCluster.shared().uri() + "?namespace=" + namespace);
    }

    /** Asks for so much at once that a machine which others use may take long with it. */
    private static Holdfast patientClient(String namespace) {
        return Holdfast.builder(TestCluster.shared().uri() + "?namespace=" + namespace + "&timeout=PT30S")
                .storeTimeout(Duration.ofSeconds(30))
                .sessionTtl(Duration.ofMinutes(2))
                .build();
    }

    @Test
    @Tag("smoke")
    @Tag("driver")
    void allPrimitivesWorkAcrossTheNodes() throws Exception {
        try (Holdfast one = client("all");
                Holdfast two = client("all")) {
            for (int i = 0; i < 30; i++) {
                long token;
                try (Hold hold = one.lock("ledger" + i).acquire()) {
                    token = hold.fencingToken();
                    assertThat(two.lock("ledger" + i).tryLock()).isFalse();
                }
                try (Hold hold = two.lock("ledger" + i).acquire(Duration.ofSeconds(30))) {
                    assertThat(hold.fencingToken()).isGreaterThan(token);
                }
                try (Permits permits = one.semaphore("gpu" + i, 4).acquire(3)) {
                    assertThat(permits.isHeld()).isTrue();
                }
                DistributedCountDownLatch latch = one.latch("start" + i);
                assertThat(latch.trySetCount(1)).isTrue();
                two.latch("start" + i).countDown();
                assertThat(latch.await(Duration.ofSeconds(30))).isTrue();
            }
            one.readWriteLock("catalogue").readLock().lock();
            two.readWriteLock("catalogue").readLock().lock();
            two.readWriteLock("catalogue").readLock().unlock();
            one.readWriteLock("catalogue").readLock().unlock();
            try (MultiHold all = one.lockAll("a", "b", "c", "d", "e").acquire()) {
                assertThat(all.isHeld()).isTrue();
                assertThat(two.lock("d").tryLock()).isFalse();
            }
            CompletableFuture<Long> led = new CompletableFuture<>();
            try (var campaign = one.election("scheduler").campaign(leadership -> led.complete(leadership.term()))) {
                assertThat(led.get(1, TimeUnit.MINUTES)).isPositive();
                until(
                        "others see the leader",
                        () -> two.election("scheduler")
                                .leader()
                                .toCompletableFuture()
                                .join()
                                .leader()
                                .isPresent());
            }
            var first = one.barrier("gate", 2).enterAsync().toCompletableFuture();
            var second = two.barrier("gate", 2).enterAsync().toCompletableFuture();
            first.get(1, TimeUnit.MINUTES).close();
            second.get(1, TimeUnit.MINUTES).close();
        }
    }

    @Test
    void tenThousandNamesAreWaitedForByOneClient() throws Exception {
        int names = 10_000;
        try (Holdfast holder = patientClient("waited");
                Holdfast waiter = patientClient("waited")) {
            List<Hold> holds = Asking.holds(Asking.acquireAll(holder, names));
            List<CompletableFuture<Hold>> waiting = Asking.acquireAll(waiter, names);
            assertThat(holds).allMatch(Hold::isHeld);
            holds.forEach(Hold::close);
            Asking.holds(waiting).forEach(Hold::close);
        }
    }

    @Test
    void tenThousandHeldLocksAreRenewedByTheirBuckets() throws Exception {
        int names = 10_000;
        Duration every = Duration.ofSeconds(2);
        try (Holdfast holder = builder("held")
                .sessionTtl(every.multipliedBy(9))
                .keepAliveEvery(every)
                .storeTimeout(Duration.ofSeconds(30))
                .build()) {
            List<Hold> holds = Asking.holds(Asking.acquireAll(holder, names));
            long before = calls();
            long beganAt = System.nanoTime();
            until("more than a ttl has passed", () -> System.nanoTime() - beganAt > 10 * every.toNanos());
            long intervals = (System.nanoTime() - beganAt) / every.toNanos() + 1;
            // One for each bucket and interval, and for each an audit now and then; never one for each lock.
            assertThat(calls() - before).isLessThan(2 * 1_024 * intervals);
            assertThat(holds).allMatch(Hold::isHeld);
            holds.forEach(Hold::close);
        }
    }

    private static long calls() {
        long calls = 0;
        for (RedisServer node : TestCluster.shared().primaries()) {
            Matcher found = CALLS.matcher(
                    String.valueOf(node.command("INFO", "commandstats").get(0)));
            calls += found.find() ? Long.parseLong(found.group(1)) : 0;
        }
        return calls;
    }
}
