package dev.holdfast.store.quorum;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.DistributedLock;
import dev.holdfast.Hold;
import dev.holdfast.Holdfast;
import dev.holdfast.StoreUnavailableException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Three real Redis servers, of which some fail. */
@Tag("server")
class QuorumOfRedisTest extends QuorumOfServers {

    private static final Duration TTL = Duration.ofSeconds(30);

    private Holdfast client() {
        QuorumStore.Builder builder = QuorumStore.builder().longestLease(TTL).answerWithin(Duration.ofMillis(1_500));
        servers.forEach(server -> builder.member(server.uri()));
        QuorumStore store = builder.open();
        toClose.add(store);
        Holdfast client = Holdfast.builder(store)
                .sessionTtl(TTL)
                .keepAliveEvery(Duration.ofSeconds(2))
                .storeTimeout(Duration.ofSeconds(15))
                .build();
        toClose.add(client);
        return client;
    }

    @Test
    @DisplayName("Two, and five, clients on one name all get in, one at a time, with rising tokens")
    @Tag("smoke")
    void contention() throws Exception {
        for (int clients : new int[] {2, 5}) {
            contend(clients, 12);
        }
    }

    private void contend(int clients, int rounds) throws Exception {
        AtomicInteger inside = new AtomicInteger();
        AtomicLong newest = new AtomicLong();
        ExecutorService threads = Executors.newFixedThreadPool(clients);
        try {
            List<Future<?>> running = new ArrayList<>();
            for (int i = 0; i < clients; i++) {
                DistributedLock lock = client().lock("hot-" + clients);
                running.add(threads.submit(() -> {
                    for (int round = 0; round < rounds; round++) {
                        try (Hold hold = lock.acquire()) {
                            assertThat(inside.incrementAndGet()).isEqualTo(1);
                            assertThat(hold.fencingToken()).isGreaterThan(newest.get());
                            newest.set(hold.fencingToken());
                            inside.decrementAndGet();
                        }
                    }
                    return null;
                }));
            }
            for (Future<?> each : running) {
                each.get(100, TimeUnit.SECONDS);
            }
        } finally {
            threads.shutdownNow();
        }
    }

    /**
     * A client that was just opened may have its sessions with two members so far, which are too few when one of these
     * fails.
     */
    private static <T> T reached(Callable<T> request) throws Exception {
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
        while (true) {
            try {
                return request.call();
            } catch (StoreUnavailableException e) {
                if (System.nanoTime() - deadline > 0) {
                    throw e;
                }
            }
        }
    }

    @Test
    @DisplayName("A minority that is killed, and started again without its data, takes nothing from anybody")
    void minorityIsKilled() throws Exception {
        Holdfast alice = client();
        Holdfast bob = client();
        try (Hold hold = alice.lock("ledger").acquire()) {
            servers.get(0).kill();
            Optional<Hold> none = reached(() -> bob.lock("ledger").tryAcquire());
            assertThat(none).isEmpty();
            try (Hold other = bob.lock("other").acquire()) {
                assertThat(other.fencingToken()).isPositive();
            }
            servers.get(0).restart();
            assertThat(reached(() -> bob.lock("ledger").tryAcquire())).isEmpty();
            assertThat(hold.isHeld()).isTrue();
        }
        try (Hold next = bob.lock("ledger").acquire()) {
            assertThat(next.isHeld()).isTrue();
        }
    }

    @Test
    @DisplayName("A minority that hangs takes nothing from anybody, and delays nobody")
    void minorityHangs() throws Exception {
        Holdfast alice = client();
        Holdfast bob = client();
        try (Hold hold = alice.lock("ledger").acquire()) {
            servers.get(1).process().pause();
            Optional<Hold> none = reached(() -> bob.lock("ledger").tryAcquire());
            assertThat(none).isEmpty();
            for (int i = 0; i < 20; i++) {
                try (Hold other = bob.lock("other").acquire()) {
                    assertThat(other.fencingToken()).isPositive();
                }
            }
            assertThat(hold.isHeld()).isTrue();
        } finally {
            servers.get(1).process().resume();
        }
        try (Hold next = bob.lock("ledger").acquire()) {
            assertThat(next.isHeld()).isTrue();
        }
    }

    @Test
    @DisplayName("A member that is flushed makes no second majority")
    void memberIsFlushed() throws Exception {
        Holdfast alice = client();
        servers.get(2).process().pause();
        DistributedLock lock = alice.lock("ledger");
        try (Hold hold = reached(lock::acquire)) {
            // It is held by the first two; now the second forgets it, and the third, which never had it, is back.
            servers.get(2).process().resume();
            servers.get(1).command("FLUSHALL");
            Holdfast bob = client();
            boolean isTaken = false;
            for (int i = 0; i < 10 && !isTaken; i++) {
                isTaken = triedBy(bob);
            }
            // If the third never had it, the first is alone with it when the second's loss is found, and gives it up.
            assertThat(isTaken && hold.isHeld())
                    .as("two owners at the same time")
                    .isFalse();
        } catch (dev.holdfast.LockLostException lost) {
            // It had lost its majority, and its owner was notified.
            assertThat(lost.loss().token()).isPositive();
        }
    }

    private static boolean triedBy(Holdfast client) {
        try {
            return client.lock("ledger").tryAcquire().isPresent();
        } catch (StoreUnavailableException keptOut) {
            return false;
        }
    }

    @Test
    @DisplayName("Without a majority nothing is granted, and it is said why")
    void majorityIsKilled() {
        Holdfast alice = client();
        servers.get(0).kill();
        servers.get(1).kill();
        assertThatThrownBy(() -> alice.lock("ledger").tryAcquire()).isInstanceOf(StoreUnavailableException.class);
    }
}
