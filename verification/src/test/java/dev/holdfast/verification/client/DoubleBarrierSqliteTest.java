package dev.holdfast.verification.client;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.BarrierMembership;
import dev.holdfast.DistributedDoubleBarrier;
import dev.holdfast.Holdfast;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

@DisplayName("A double barrier between two clients on SQLite")
class DoubleBarrierSqliteTest {

    private static final int PARTIES = 3;
    private static final int THREADS = 6;
    private static final int GENERATIONS = 10;
    private static final Duration LONGEST = Duration.ofSeconds(5);

    @TempDir
    private Path directory;

    private Holdfast connect() {
        return Holdfast.connect("sqlite:" + directory.resolve("locks.db"));
    }

    @Test
    @Tag("H1")
    @Tag("H2")
    @Tag("H4")
    @DisplayName(
            "lets three in at a time, of six that come and give up again and again, and nobody in before they have left")
    void threeAtATime() throws Exception {
        Map<Long, AtomicInteger> members = new ConcurrentHashMap<>();
        Map<BarrierMembership, Long> inside = new ConcurrentHashMap<>();
        try (Holdfast alice = connect();
                Holdfast bob = connect()) {
            ExecutorService threads = Executors.newFixedThreadPool(THREADS);
            List<Future<Boolean>> runs = new ArrayList<>();
            for (int i = 0; i < THREADS; i++) {
                DistributedDoubleBarrier barrier = (i % 2 == 0 ? alice : bob).barrier("stage", PARTIES);
                // Some give up often, and all of them in the end, when too few are left to fill the places.
                Duration shortest = Duration.ofMillis(20L * (i + 1));
                runs.add(threads.submit(() -> {
                    Duration patience = shortest;
                    while (members.size() < GENERATIONS) {
                        Optional<BarrierMembership> entered = barrier.tryEnter(patience);
                        // On a slow machine they would never all be there, unless they wait for longer.
                        patience = entered.isPresent() || patience.compareTo(LONGEST) > 0
                                ? shortest
                                : patience.multipliedBy(2);
                        if (entered.isPresent()) {
                            BarrierMembership membership = entered.get();
                            Long generation = membership.generation();
                            members.computeIfAbsent(generation, fresh -> new AtomicInteger())
                                    .incrementAndGet();
                            inside.put(membership, generation);
                            assertThat(inside.values()).containsOnly(generation);
                            inside.remove(membership);
                            membership.leave();
                            assertThat(members.get(generation)).hasValue(PARTIES);
                        }
                    }
                    return true;
                }));
            }
            for (Future<Boolean> run : runs) {
                assertThat(run.get()).isTrue();
            }
            threads.shutdown();
        }
        assertThat(members.values())
                .hasSizeGreaterThanOrEqualTo(GENERATIONS)
                .allSatisfy(count -> assertThat(count).hasValue(PARTIES));
    }
}
