package dev.holdfast.verification.client;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.Hold;
import dev.holdfast.Holdfast;
import dev.holdfast.MultiHold;
import dev.holdfast.MultiLock;
import dev.holdfast.StoreUnavailableException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

@DisplayName("A multi-lock between two clients on SQLite")
class MultiLockSqliteTest {

    private static final int ROUNDS = 40;
    private static final Duration SHORTEST = Duration.ofMillis(50);
    private static final Duration LONGEST = Duration.ofSeconds(5);
    private static final String[] FORTH = {"a", "b", "c"};
    private static final String[] BACK = {"c", "b", "a"};

    @TempDir
    private Path directory;

    private Holdfast connect() {
        return Holdfast.connect("sqlite:" + directory.resolve("locks.db"));
    }

    @Test
    @Tag("J1")
    @DisplayName("has all parts, with tokens that rise, while the other has none")
    void allOrNothing() throws Exception {
        try (Holdfast alice = connect();
                Holdfast bob = connect()) {
            long[] before = new long[3];
            for (int round = 0; round < 5; round++) {
                try (MultiHold hold =
                        (round % 2 == 0 ? alice : bob).lockAll(FORTH).acquire()) {
                    assertThat((round % 2 == 0 ? bob : alice).lockAll(BACK).tryAcquire())
                            .isEmpty();
                    for (int i = 0; i < 3; i++) {
                        long token = hold.fencingToken(FORTH[i]);
                        assertThat(token).isGreaterThan(before[i]);
                        before[i] = token;
                    }
                }
            }
        }
    }

    @Test
    @Tag("J2")
    @DisplayName("asked for in opposite orders by threads of both, also in pairs, ends for all")
    void oppositeOrders() throws Exception {
        AtomicInteger inside = new AtomicInteger();
        try (Holdfast alice = connect();
                Holdfast bob = connect()) {
            List<MultiLock> locks =
                    List.of(alice.lockAll(FORTH), bob.lockAll(BACK), alice.lockAll("b", "a"), bob.lockAll("c", "b"));
            ExecutorService threads = Executors.newFixedThreadPool(locks.size());
            List<Future<?>> runs = new ArrayList<>();
            for (MultiLock lock : locks) {
                runs.add(threads.submit(() -> {
                    for (int i = 0; i < ROUNDS; i++) {
                        try (MultiHold hold = lock.acquire()) {
                            // All four have "b".
                            assertThat(inside.incrementAndGet()).isOne();
                            assertThat(hold.isHeld()).isTrue();
                            inside.decrementAndGet();
                        }
                    }
                    return true;
                }));
            }
            for (Future<?> run : runs) {
                run.get(2, TimeUnit.MINUTES);
            }
            threads.shutdown();
        }
    }

    @Test
    @Tag("J5")
    @DisplayName("by threads that come with a part in hand, ends for all that let go of it in the end")
    void withAPartInHand() throws Exception {
        try (Holdfast alice = connect();
                Holdfast bob = connect()) {
            ExecutorService threads = Executors.newFixedThreadPool(2);
            List<Future<Integer>> runs = new ArrayList<>();
            for (Holdfast client : List.of(alice, bob)) {
                runs.add(threads.submit(() -> {
                    int successes = 0;
                    Duration patience = SHORTEST;
                    while (successes < 10) {
                        try (Hold b = client.lock(client == alice ? "b" : "a").acquire()) {
                            Optional<MultiHold> all = tried(client.lockAll("a", "b"), patience);
                            // On a slow machine no thread would get both without a longer wait.
                            patience = all.isPresent() || patience.compareTo(LONGEST) > 0
                                    ? SHORTEST
                                    : patience.multipliedBy(2);
                            if (all.isPresent()) {
                                successes++;
                                assertThat(b.isHeld()).isTrue();
                                all.get().close();
                            }
                        }
                    }
                    return successes;
                }));
            }
            for (Future<Integer> run : runs) {
                assertThat(run.get(2, TimeUnit.MINUTES)).isEqualTo(10);
            }
            threads.shutdown();
        }
    }

    /** Also empty if the wait ended before the store had replied. */
    private static Optional<MultiHold> tried(MultiLock lock, Duration patience) throws InterruptedException {
        try {
            return lock.tryAcquire(patience);
        } catch (StoreUnavailableException e) {
            assertThat(e).hasMessageContaining("did not answer");
            return Optional.empty();
        }
    }
}
