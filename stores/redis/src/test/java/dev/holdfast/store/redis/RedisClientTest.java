package dev.holdfast.store.redis;

import static dev.holdfast.store.redis.Asking.until;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.DistributedCountDownLatch;
import dev.holdfast.DistributedLock;
import dev.holdfast.Hold;
import dev.holdfast.Holdfast;
import dev.holdfast.LockLostException;
import dev.holdfast.Loss;
import dev.holdfast.Permits;
import dev.holdfast.StoreRefusedException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** What a user of the client sees on Redis. */
@Tag("server")
class RedisClientTest {

    private static String uri(TestServer server, String namespace) {
        return "redis://127.0.0.1:" + server.port() + "?namespace=" + namespace;
    }

    @Test
    @Tag("smoke")
    @Tag("driver")
    void allPrimitivesWorkAndLeaveNothingBehind() throws Exception {
        TestServer server = TestServer.shared();
        try (Holdfast one = Holdfast.connect(uri(server, "all"));
                Holdfast two = Holdfast.connect(uri(server, "all"))) {
            long token;
            try (Hold hold = one.lock("ledger").acquire()) {
                token = hold.fencingToken();
                assertThat(two.lock("ledger").tryLock()).isFalse();
            }
            try (Hold hold = two.lock("ledger").acquire(Duration.ofSeconds(30))) {
                assertThat(hold.fencingToken()).isGreaterThan(token);
            }
            one.readWriteLock("catalogue").readLock().lock();
            two.readWriteLock("catalogue").readLock().lock();
            two.readWriteLock("catalogue").readLock().unlock();
            one.readWriteLock("catalogue").readLock().unlock();
            try (Permits permits = one.semaphore("gpu", 4).acquire(3)) {
                assertThat(permits.isHeld()).isTrue();
            }
            DistributedCountDownLatch latch = one.latch("start");
            assertThat(latch.trySetCount(1)).isTrue();
            two.latch("start").countDown();
            assertThat(latch.await(Duration.ofSeconds(30))).isTrue();
        }
        // But for the counter of the tokens, and what is remembered of the open latch.
        server.with(redis -> {
            until("both sessions are closed", () -> redis.hlen("all:{0}:h") <= 2);
            assertThat(server.server().command("KEYS", "all:*"))
                    .containsExactlyInAnyOrder("all:{0}:h", "all:{0}:d", "all:{0}:o");
            assertThat(redis.zrange("all:{0}:d", 0, -1)).containsExactly("ostart", "!");
        });
    }

    @Test
    void clientsTakeTurnsAndNeverMeet() throws Exception {
        TestServer server = TestServer.shared();
        AtomicInteger inside = new AtomicInteger();
        AtomicLong newest = new AtomicLong();
        ExecutorService threads = Executors.newFixedThreadPool(8);
        List<Holdfast> clients = new ArrayList<>();
        try {
            for (int i = 0; i < 4; i++) {
                clients.add(Holdfast.connect(uri(server, "turns")));
            }
            List<Future<?>> running = new ArrayList<>();
            for (int i = 0; i < 8; i++) {
                DistributedLock lock = clients.get(i % 4).lock("hot");
                running.add(threads.submit(() -> {
                    for (int round = 0; round < 200; round++) {
                        try (Hold hold = lock.acquire(Duration.ofMinutes(1))) {
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
            clients.forEach(Holdfast::close);
        }
    }

    @Test
    void tenThousandNamesAreWaitedForByOneClient() throws Exception {
        TestServer server = TestServer.shared();
        int names = 10_000;
        try (Holdfast holder = patientClient(uri(server, "many"));
                Holdfast waiter = patientClient(uri(server, "many"));
                RedisStore store = server.builder().namespace("many").open()) {
            List<Hold> holds = Asking.holds(Asking.acquireAll(holder, names));
            List<CompletableFuture<Hold>> waiting = Asking.acquireAll(waiter, names);
            until("all wait", () -> Asking.waiting(store, "name/") == names);
            assertThat(waiting).noneMatch(CompletableFuture::isDone);
            holds.forEach(Hold::close);
            Asking.holds(waiting).forEach(Hold::close);
        }
    }

    /** Asks for so much at once that a machine which others use may take long with it. */
    private static Holdfast patientClient(String uri) {
        return Holdfast.builder(uri + "&timeout=PT30S")
                .storeTimeout(Duration.ofSeconds(30))
                .sessionTtl(Duration.ofMinutes(2))
                .build();
    }

    @Test
    void holderIsToldThatTheServerHasLostItsData() throws Exception {
        try (TestServer server = TestServer.start();
                Holdfast holdfast = Holdfast.builder(uri(server, "lost"))
                        .sessionTtl(Duration.ofMinutes(2))
                        .keepAliveEvery(Duration.ofMillis(50))
                        .build()) {
            Hold hold = holdfast.lock("ledger").acquire();
            CompletableFuture<Loss> loss = new CompletableFuture<>();
            hold.onLost(loss::complete);
            server.server().kill();
            server.server().restart();
            assertThat(loss.get(1, TimeUnit.MINUTES).cause()).isEqualTo(Loss.Cause.SESSION_ENDED);
            assertThatThrownBy(hold::fencingToken).isInstanceOf(LockLostException.class);
            assertThatThrownBy(hold::close).isInstanceOf(LockLostException.class);
            holdfast.lock("ledger").acquire(Duration.ofMinutes(1)).close();
        }
    }

    @Test
    void lockThatWasRemovedByHandIsFoundOut() throws Exception {
        TestServer server = TestServer.shared();
        try (Holdfast holdfast = Holdfast.builder(uri(server, "flushed"))
                .sessionTtl(Duration.ofSeconds(3))
                .build()) {
            Hold hold = holdfast.lock("ledger").acquire();
            CompletableFuture<Loss> loss = new CompletableFuture<>();
            hold.onLost(loss::complete);
            server.with(redis -> redis.hdel("flushed:{0}:h", "ledger"));
            assertThat(loss.get(1, TimeUnit.MINUTES).name()).isEqualTo("ledger");
            assertThatThrownBy(hold::close).isInstanceOf(LockLostException.class);
        }
    }

    @Test
    void damagedRecordIsToldToTheUser() throws Exception {
        TestServer server = TestServer.shared();
        try (Holdfast holdfast = Holdfast.connect(uri(server, "damaged"))) {
            holdfast.lock("other").acquire().close();
            server.with(redis -> redis.hset("damaged:{0}:h", "ledger", "rubbish"));
            assertThatThrownBy(() -> holdfast.lock("ledger").acquire())
                    .isInstanceOf(StoreRefusedException.class)
                    .hasMessageContainingAll("ledger", "damaged");
            server.with(redis -> redis.hdel("damaged:{0}:h", "ledger"));
            holdfast.lock("ledger").acquire().close();
        }
    }
}
