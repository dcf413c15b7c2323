package dev.holdfast.store.redis;

import static dev.holdfast.store.redis.Asking.until;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.AcquireOptions;
import dev.holdfast.Hold;
import dev.holdfast.Holdfast;
import dev.holdfast.LockLostException;
import dev.holdfast.Loss;
import dev.holdfast.Permits;
import dev.holdfast.StoreUnavailableException;
import dev.holdfast.servers.RedisCluster;
import dev.holdfast.servers.RedisServer;
import dev.holdfast.spi.ResourceName;
import dev.holdfast.store.redis.script.BucketLayout;
import io.lettuce.core.cluster.SlotHash;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Faults of a cluster, and their effect on its locks. Tests that damage a cluster start their own. */
@Tag("server")
class ClusterFaultsTest {

    private static final String NAMESPACE = "faults";

    private static Holdfast client(RedisCluster cluster) {
        return builder(cluster).build();
    }

    private static Holdfast.Builder builder(RedisCluster cluster) {
        return Holdfast.builder(cluster.uri() + "?namespace=" + NAMESPACE)
                .sessionTtl(Duration.ofMinutes(2))
                .storeTimeout(Duration.ofMinutes(1));
    }

    /**
     * A client that soon gives up what it can't have: not to be used where something has to succeed at the first
     * attempt.
     */
    private static Holdfast hasty(RedisCluster cluster) {
        return persistently(() -> builder(cluster)
                .sessionTtl(Duration.ofSeconds(6))
                .storeTimeout(Duration.ofSeconds(2))
                .build());
    }

    /** Retries if the store was too slow for a client with a short time-out. */
    private static <T> T persistently(Supplier<T> request) {
        AtomicReference<T> answer = new AtomicReference<>();
        until("the store answers a hasty client", () -> {
            try {
                answer.set(request.get());
                return true;
            } catch (StoreUnavailableException e) {
                return false;
            }
        });
        return answer.get();
    }

    /** By default a cluster serves nothing at all when somebody is missing. */
    private static void serveTheRestAlways(RedisCluster cluster) {
        cluster.nodes().forEach(node -> node.command("CONFIG", "SET", "cluster-require-full-coverage", "no"));
    }

    private static int slotOf(String name) {
        return slotOf(NAMESPACE, name);
    }

    static int slotOf(String namespace, String name) {
        BucketLayout layout = new BucketLayout(namespace, 1_024);
        return SlotHash.getSlot(layout.keys(layout.bucketOf(new ResourceName(name)))[0]);
    }

    /** The node that a new cluster has for a name. */
    private static int nodeOf(String name) {
        return slotOf(name) * 3 / RedisCluster.SLOTS;
    }

    private static List<String> namesAt(int node, int howMany) {
        return IntStream.range(0, 100_000)
                .mapToObj(i -> "name/" + i)
                .filter(name -> nodeOf(name) == node)
                .limit(howMany)
                .toList();
    }

    private static Hold acquire(Holdfast client, String name) throws Exception {
        return client.lock(name).acquireAsync().toCompletableFuture().get(1, TimeUnit.MINUTES);
    }

    @Test
    void nodeThatStandsStillDelaysNobodyElse() throws Exception {
        try (RedisCluster cluster = RedisCluster.start();
                Holdfast one = client(cluster);
                Holdfast two = client(cluster);
                Holdfast hasty = hasty(cluster)) {
            serveTheRestAlways(cluster);
            RedisServer victim = cluster.primaries().get(1);
            List<Hold> elsewhere = new ArrayList<>();
            for (String name : namesAt(0, 20)) {
                elsewhere.add(acquire(one, name));
            }
            Hold there = persistently(() -> hasty.lock(namesAt(1, 1).get(0)).tryAcquire())
                    .orElseThrow();
            victim.process().pause();
            CompletableFuture<Hold> stuck =
                    one.lock(namesAt(1, 2).get(1)).acquireAsync().toCompletableFuture();
            List<String> free = namesAt(2, 40);
            for (int i = 0; i < 120; i++) {
                String name = free.get(i % free.size());
                two.lock(name).acquire(Duration.ofMinutes(1)).close();
                one.lock(name).acquire(Duration.ofMinutes(1)).close();
            }
            assertThat(stuck).as("120 pairs elsewhere later").isNotDone();
            assertThatThrownBy(() -> acquire(hasty, namesAt(1, 3).get(2)))
                    .hasCauseInstanceOf(StoreUnavailableException.class);
            until("what was held there is lost", () -> !there.isHeld());
            assertThat(elsewhere).allMatch(Hold::isHeld);
            victim.process().resume();
            stuck.get(1, TimeUnit.MINUTES).close();
            for (Hold hold : elsewhere) {
                hold.close();
            }
            assertThatThrownBy(there::close).isInstanceOf(LockLostException.class);
        }
    }

    @Test
    void primaryThatDiesBeforeItHasReplicatedForgetsLocksAndTokensRiseAllTheSame() throws Exception {
        // What was forgotten without its session is found by the audit, once per ttl.
        try (RedisCluster cluster = RedisCluster.start();
                Holdfast one = builder(cluster)
                        .sessionTtl(Duration.ofSeconds(18))
                        .keepAliveEvery(Duration.ofMillis(200))
                        .build();
                Holdfast two = client(cluster)) {
            String name = namesAt(2, 1).get(0);
            Hold other = acquire(one, namesAt(0, 1).get(0));
            acquire(one, name).close();
            until("the replica has what was written", () -> isReplicated(cluster, 2));
            RedisServer replica = cluster.replicas().get(2);
            cluster.letTakeOver(replica);
            replica.process().pause();
            // What is sent from here on is not even on its way to the replica.
            cluster.primaries().get(2).command("CLIENT", "KILL", "TYPE", "replica");
            Hold lost = acquire(one, name);
            long token = lost.fencingToken();
            CompletableFuture<Loss> loss = new CompletableFuture<>();
            lost.onLost(loss::complete);
            cluster.primaries().get(2).kill();
            replica.process().resume();
            until("the replica has taken over", () -> replica.info("role").equals("master"));
            try (Hold next = two.lock(name).acquire(Duration.ofMinutes(1))) {
                assertThat(next.fencingToken()).isGreaterThan(token);
            }
            assertThat(loss.get(1, TimeUnit.MINUTES).name()).isEqualTo(name);
            assertThatThrownBy(lost::close).isInstanceOf(LockLostException.class);
            assertThat(other.isHeld()).isTrue();
            other.close();
        }
    }

    private static boolean isReplicated(RedisCluster cluster, int node) {
        String primary = cluster.primaries().get(node).info("master_repl_offset");
        return primary.equals(cluster.replicas().get(node).info("slave_repl_offset"));
    }

    @Test
    void slotsMoveUnderLoadAndNoLockIsLost() throws Exception {
        RedisCluster cluster = TestCluster.shared();
        try (Holdfast one = client(cluster);
                Holdfast two = client(cluster)) {
            String hot = namesAt(0, 1).get(0);
            String kept = "name/"
                    + IntStream.range(1, 100_000)
                            .filter(i -> slotOf("name/" + i) == slotOf(hot) && !hot.equals("name/" + i))
                            .findFirst()
                            .orElseThrow();
            Hold hold = acquire(one, kept);
            AtomicBoolean over = new AtomicBoolean();
            AtomicInteger inside = new AtomicInteger();
            AtomicInteger rounds = new AtomicInteger();
            AtomicLong newest = new AtomicLong();
            ExecutorService threads = Executors.newFixedThreadPool(4);
            List<Future<?>> running = new ArrayList<>();
            for (int i = 0; i < 4; i++) {
                Holdfast client = i % 2 == 0 ? one : two;
                running.add(threads.submit(() -> {
                    while (!over.get()) {
                        try (Hold own = client.lock(hot).acquire(Duration.ofMinutes(1))) {
                            assertThat(inside.incrementAndGet()).isEqualTo(1);
                            assertThat(newest.getAndSet(own.fencingToken())).isLessThan(own.fencingToken());
                            inside.decrementAndGet();
                            rounds.incrementAndGet();
                        }
                    }
                    return null;
                }));
            }
            try {
                RedisServer from = cluster.primaries().get(0);
                RedisServer to = cluster.primaries().get(1);
                for (int round = 0; round < 6; round++) {
                    int before = rounds.get();
                    until("locks go round", () -> rounds.get() > before + 20 || isAnyDone(running));
                    // Half of the keys may have migrated when commands arrive; those are told to try again.
                    cluster.move(slotOf(hot), from, to, () -> {});
                    RedisServer next = from;
                    from = to;
                    to = next;
                }
                int before = rounds.get();
                until("locks go round after it", () -> rounds.get() > before + 20 || isAnyDone(running));
            } finally {
                over.set(true);
                threads.shutdown();
            }
            for (Future<?> one1 : running) {
                one1.get(1, TimeUnit.MINUTES);
            }
            assertThat(hold.isHeld()).isTrue();
            hold.close();
        }
    }

    @Test
    void commandsForASlotThatIsHalfMovedAreRepeatedAndFollowIt() throws Exception {
        RedisCluster cluster = TestCluster.shared();
        try (Holdfast one = client(cluster);
                Holdfast two = client(cluster)) {
            String name = namesAt(2, 1).get(0);
            int slot = slotOf(name);
            RedisServer from = cluster.primaries().get(2);
            RedisServer to = cluster.primaries().get(0);
            // There are more holders than fit into one field. So all keys of the bucket are in use, and any node with
            // all of them can serve it.
            List<Permits> shares = new ArrayList<>();
            for (int i = 0; i < 20; i++) {
                shares.add((i % 2 == 0 ? one : two).semaphore(name, 40).acquire(1));
            }
            List<String> keys = cluster.keysIn(slot, from);
            assertThat(keys).hasSize(3);
            long refused = errors(from, "TRYAGAIN");
            long sentOn = errors(from, "ASK");
            cluster.announceMove(slot, from, to);
            cluster.moveKeys(keys.subList(0, 1), from, to);
            CompletableFuture<Permits> asked = two.semaphore(name, 40)
                    .acquireAsync(1, AcquireOptions.defaults())
                    .toCompletableFuture();
            until("some keys are here and some there", () -> errors(from, "TRYAGAIN") > refused + 2);
            assertThat(asked).isNotDone();
            cluster.moveKeys(keys.subList(1, 3), from, to);
            // The slot is still said to be where it was.
            shares.add(asked.get(1, TimeUnit.MINUTES));
            assertThat(errors(from, "ASK")).isGreaterThan(sentOn);
            cluster.completeMove(slot, from, to);
            shares.add(one.semaphore(name, 40).acquire(1));
            assertThat(shares).allMatch(Permits::isHeld);
            shares.forEach(Permits::close);
            cluster.move(slot, to, from, () -> {});
        }
    }

    /** How often a node has answered with an error of that kind. */
    private static long errors(RedisServer node, String kind) {
        return String.valueOf(node.command("INFO", "errorstats").get(0))
                .lines()
                .filter(line -> line.startsWith("errorstat_" + kind + ":count="))
                .mapToLong(line -> Long.parseLong(line.substring(line.indexOf('=') + 1)))
                .sum();
    }

    /** Whether a thread has ended, which it does if something is wrong. */
    private static boolean isAnyDone(List<Future<?>> running) {
        return running.stream().anyMatch(Future::isDone);
    }

    @Test
    void waiterIsToldWhereItsSlotHasGone() throws Exception {
        RedisCluster cluster = TestCluster.shared();
        // Their leases are too long for polls at their end.
        Duration hour = Duration.ofHours(1);
        try (Holdfast one = builder(cluster).sessionTtl(hour).build();
                Holdfast two = builder(cluster).sessionTtl(hour).build()) {
            String name = namesAt(0, 1).get(0);
            Hold hold = acquire(one, name);
            CompletableFuture<Hold> waits = two.lock(name).acquireAsync().toCompletableFuture();
            RedisServer there = cluster.primaries().get(0);
            until(
                    "both listen",
                    () -> there.command("PUBSUB", "SHARDCHANNELS", NAMESPACE + "*")
                                    .size()
                            == 2);
            cluster.move(slotOf(name), there, cluster.primaries().get(1), () -> {});
            hold.close();
            waits.get(1, TimeUnit.MINUTES).close();
            assertThat(waits).isCompletedWithValueMatching(got -> !got.isHeld());
            cluster.move(slotOf(name), cluster.primaries().get(1), there, () -> {});
        }
    }

    @Test
    void clusterThatIsDownForSlotsFailsThoseAndServesTheRest() throws Exception {
        try (RedisCluster cluster = RedisCluster.start();
                Holdfast one = client(cluster);
                Holdfast hasty = hasty(cluster)) {
            serveTheRestAlways(cluster);
            String lost = namesAt(1, 1).get(0);
            String served = namesAt(2, 1).get(0);
            cluster.replicas().get(1).kill();
            cluster.primaries().get(1).kill();
            CompletableFuture<Hold> stuck = one.lock(lost).acquireAsync().toCompletableFuture();
            assertThatThrownBy(() -> hasty.lock(lost).acquire()).isInstanceOf(StoreUnavailableException.class);
            for (int i = 0; i < 50; i++) {
                one.lock(served).acquire(Duration.ofMinutes(1)).close();
            }
            cluster.primaries().get(1).restart();
            try (Hold again = stuck.get(1, TimeUnit.MINUTES)) {
                assertThat(again.isHeld()).isTrue();
            }
        }
    }
}
