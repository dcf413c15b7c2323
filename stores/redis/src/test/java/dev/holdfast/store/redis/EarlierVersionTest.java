package dev.holdfast.store.redis;

import static dev.holdfast.store.redis.Asking.until;
import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.AcquireOptions;
import dev.holdfast.DistributedLock;
import dev.holdfast.Hold;
import dev.holdfast.Holdfast;
import dev.holdfast.OnDeadlock;
import dev.holdfast.Permits;
import dev.holdfast.admin.LockInfo;
import dev.holdfast.store.redis.script.Script;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * The records at the server are written and read by the script alone. The earlier client here is the present one with
 * the script as it was before annotations and waiting times, and uses nothing that came later: it shows that both
 * scripts understand each other's records, and not that the earlier Java code still runs.
 */
@Tag("server")
@DisplayName("Clients with the script of an earlier version, next to present ones")
class EarlierVersionTest {

    private static final String NAMESPACE = "earlier";
    private static final Duration LONG = Duration.ofMinutes(1);

    /** Shorter than that of a session. */
    private static final Duration LEASE = Duration.ofSeconds(20);

    private static final AcquireOptions MESSAGE = AcquireOptions.defaults().withMessage("release 4.2");

    private final TestServer server = TestServer.shared();
    private final Holdfast earlier = earlier();
    private final Holdfast present = present();

    // One client asks the store for a name once, whatever its threads do.
    private final Holdfast otherEarlier = earlier();
    private final Holdfast otherPresent = present();

    @AfterEach
    void close() {
        List.of(earlier, present, otherEarlier, otherPresent).forEach(Holdfast::close);
    }

    private Holdfast earlier() {
        return Holdfast.builder(server.builder()
                        .namespace(NAMESPACE)
                        .script(new Script(read("commands-of-an-earlier-version.lua")))
                        .open())
                .label("earlier")
                .onDeadlock(OnDeadlock.OFF)
                .build();
    }

    private Holdfast present() {
        return Holdfast.builder(server.builder().namespace(NAMESPACE).open())
                .label("present")
                .build();
    }

    private static String read(String resource) {
        try (InputStream in = EarlierVersionTest.class.getResourceAsStream(resource)) {
            return new String(Objects.requireNonNull(in).readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    private static CompletableFuture<Hold> request(Holdfast client, String name, AcquireOptions options) {
        return client.lock(name).acquireAsync(options).toCompletableFuture();
    }

    private static Hold granted(CompletableFuture<Hold> request) throws Exception {
        return request.get(1, TimeUnit.MINUTES);
    }

    private LockInfo info(String name) {
        return present.inspect(name).orElseThrow();
    }

    private String message(String name) {
        return info(name).holders().get(0).message();
    }

    private void awaitWaiters(String name, int waiters) {
        until(waiters + " wait", () -> info(name).waiters().size() == waiters);
    }

    @Test
    @DisplayName("queue behind each other, and show a message and a waiting time of those that have one")
    void queues() throws Exception {
        Hold first = granted(request(present, "ledger", MESSAGE));
        until("the message is shown", () -> message("ledger").equals("release 4.2"));
        assertThat(earlier.lock("ledger").tryLock()).isFalse();
        CompletableFuture<Hold> second = request(earlier, "ledger", AcquireOptions.defaults());
        awaitWaiters("ledger", 1);
        CompletableFuture<Hold> third = request(otherPresent, "ledger", MESSAGE);
        awaitWaiters("ledger", 2);
        assertThat(info("ledger").waiters().get(0).waited()).isEmpty();
        assertThat(info("ledger").waiters().get(1).waited()).isPresent();
        first.close();
        Hold ofEarlier = granted(second);
        assertThat(info("ledger").holders().get(0).label()).isEqualTo("earlier");
        assertThat(message("ledger")).isEmpty();
        assertThat(present.lock("ledger").tryLock()).isFalse();
        long token = ofEarlier.fencingToken();
        ofEarlier.close();
        Hold last = granted(third);
        assertThat(last.fencingToken()).isGreaterThan(token);
        until("its message is shown", () -> message("ledger").equals("release 4.2"));
        last.close();
    }

    @Test
    @DisplayName("keep leases of their own apart, also of those that have waited")
    void leases() throws Exception {
        AcquireOptions leased = AcquireOptions.defaults().withFixedLease(LEASE);
        Hold first = granted(request(earlier, "leased", leased));
        CompletableFuture<Hold> second = request(present, "leased", leased.withMessage("leased"));
        awaitWaiters("leased", 1);
        CompletableFuture<Hold> third = request(otherEarlier, "leased", leased);
        awaitWaiters("leased", 2);
        CompletableFuture<Hold> fourth = request(otherPresent, "leased", leased);
        awaitWaiters("leased", 3);
        first.close();
        for (CompletableFuture<Hold> next : List.of(second, third, fourth)) {
            Hold hold = granted(next);
            assertThat(info("leased").holders().get(0).leaseLeft()).isBetween(Duration.ofMillis(1), LEASE);
            assertThat(hold.remaining()).isBetween(Duration.ofMillis(1), LEASE);
            hold.close();
        }
    }

    @Test
    @DisplayName("end each other's holds by force, with their messages")
    void force() throws Exception {
        Hold annotated = granted(request(present, "forced", MESSAGE));
        until("the message is shown", () -> message("forced").equals("release 4.2"));
        assertThat(earlier.forceRelease("forced", annotated.fencingToken())).isTrue();
        Hold next = granted(request(earlier, "forced", AcquireOptions.defaults()));
        assertThat(message("forced")).isEmpty();
        assertThat(present.forceRelease("forced", next.fencingToken())).isTrue();
        granted(request(present, "forced", AcquireOptions.defaults())).close();
    }

    @Test
    @DisplayName("share permits, readers and latches")
    void otherPrimitives() throws Exception {
        try (Permits one = earlier.semaphore("gpu", 3).acquire(1);
                Permits two = present.semaphore("gpu", 3).acquire(1)) {
            assertThat(one.isHeld() && two.isHeld()).isTrue();
            assertThat(earlier.semaphore("gpu", 3).tryAcquire(2)).isEmpty();
            assertThat(present.semaphore("gpu", 3).tryAcquire(2)).isEmpty();
        }
        try (Hold one = earlier.readWriteLock("data").readLock().acquire();
                Hold two = present.readWriteLock("data").readLock().acquire()) {
            assertThat(one.isHeld() && two.isHeld()).isTrue();
            assertThat(otherEarlier.readWriteLock("data").writeLock().tryLock()).isFalse();
            assertThat(otherPresent.readWriteLock("data").writeLock().tryLock()).isFalse();
        }
        assertThat(earlier.latch("start").trySetCount(2)).isTrue();
        present.latch("start").countDown();
        earlier.latch("start").countDown();
        assertThat(present.latch("start").await(LONG)).isTrue();
        assertThat(earlier.latch("start").await(LONG)).isTrue();
    }

    @Test
    @DisplayName("exclude each other under contention, with increasing tokens")
    void contention() throws Exception {
        AtomicInteger inside = new AtomicInteger();
        AtomicLong newest = new AtomicLong();
        List<Holdfast> clients = List.of(earlier, present, otherEarlier, otherPresent);
        ExecutorService threads = Executors.newFixedThreadPool(8);
        try {
            List<Future<?>> running = new ArrayList<>();
            for (int i = 0; i < 8; i++) {
                DistributedLock lock = clients.get(i % 4).lock("hot");
                AcquireOptions options = (i % 4 == 1 ? MESSAGE : AcquireOptions.defaults()).withMaxWait(LONG);
                running.add(threads.submit(() -> {
                    for (int round = 0; round < 100; round++) {
                        try (Hold hold = lock.acquire(options)) {
                            assertThat(inside.incrementAndGet()).isEqualTo(1);
                            assertThat(newest.getAndSet(hold.fencingToken())).isLessThan(hold.fencingToken());
                            inside.decrementAndGet();
                        }
                    }
                    return null;
                }));
            }
            for (Future<?> one : running) {
                one.get(2, TimeUnit.MINUTES);
            }
        } finally {
            threads.shutdownNow();
        }
    }
}
