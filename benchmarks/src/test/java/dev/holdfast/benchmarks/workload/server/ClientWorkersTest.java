package dev.holdfast.benchmarks.workload.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.benchmarks.harness.Bench;
import dev.holdfast.benchmarks.harness.Contestant;
import dev.holdfast.benchmarks.harness.Guarded;
import dev.holdfast.benchmarks.harness.Measurements;
import dev.holdfast.benchmarks.harness.Workers;
import dev.holdfast.benchmarks.server.Servers;
import dev.holdfast.benchmarks.workload.Figure;
import dev.holdfast.benchmarks.workload.Unit;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

@DisplayName("A contestant on a server")
@Tag("server")
class ClientWorkersTest {

    private static final Servers SERVERS = new Servers();
    private static final Duration TIME = Duration.ofMillis(50);

    @TempDir
    private Path place;

    private final Measurements measurements = new Measurements();

    @BeforeEach
    void lendServer() {
        SERVERS.lend(Servers.Kind.REDIS, place);
    }

    @AfterAll
    static void endServers() {
        SERVERS.close();
    }

    /** A lock of others, with tokens. */
    private record Somebody(boolean isPeer, Contestant.Mutex lock) implements Contestant {
        @Override
        public String title() {
            return "somebody";
        }

        @Override
        public Client connect(Path place) {
            return new Client() {
                @Override
                public Mutex mutex(String name) {
                    return lock;
                }

                @Override
                public void close() {}
            };
        }
    }

    private interface Acquisition {
        long acquire() throws InterruptedException;
    }

    private static Contestant.Mutex lock(Acquisition acquisition) {
        return new Contestant.Mutex() {
            @Override
            public long acquire() throws InterruptedException {
                return acquisition.acquire();
            }

            @Override
            public void release() {}
        };
    }

    private void measure(Contestant contestant) throws Exception {
        ClientWorkers.measure(Contestants.REDIS, contestant, 1, 1, bench(), measurements);
    }

    private Bench bench() {
        return Bench.after(Duration.ZERO, place, TIME, 0.01);
    }

    @Test
    @DisplayName("whose lock is broken is found out, a peer too")
    void findsBrokenLocks() throws Exception {
        // On a busy machine there may not be two pairs in so short a time.
        for (int attempt = 0; attempt < 100 && measurements.violations().isEmpty(); attempt++) {
            measure(new Somebody(true, lock(() -> 7)));
        }
        assertThat(measurements.violations())
                .singleElement()
                .asString()
                .contains("tokens were not above the one before");
    }

    @Test
    @DisplayName("that never comes to an end is left to itself and told of, if it is a peer")
    void leavesStuckPeers() throws Exception {
        measure(new Somebody(true, lock(ClientWorkersTest::neverComes)));
        assertThat(measurements.violations()).isEmpty();
        assertThat(measurements.remarks())
                .singleElement()
                .asString()
                .startsWith("1 of 1 threads did not come to an end");
        assertThat(Unit.PER_SECOND.show(measurements.get("pairs/s"))).isEqualTo("none finished");
    }

    @Test
    @DisplayName("that never comes to an end has failed, if it is ours")
    void failsIfOursIsStuck() {
        Contestant.Mutex stuck = lock(ClientWorkersTest::neverComes);
        // The time-out of a measurement would only take time here.
        assertThatThrownBy(() -> Workers.of(
                                new Somebody(false, stuck),
                                bench(),
                                1,
                                unused -> new Workers.Post(stuck, Guarded.inMemory()))
                        .timeout(Duration.ofMillis(200))
                        .run())
                .isInstanceOf(IllegalStateException.class)
                .hasMessage("1 threads failed");
    }

    private static long neverComes() throws InterruptedException {
        new CountDownLatch(1).await();
        return 0;
    }

    @Test
    @DisplayName("is ahead of peers of which none finished, and compared with the best")
    void comparesWithTheBest() {
        Figure times = ClientWorkers.times("ours", "the best peer", List.of("one", "other"));
        assertThat(times.sorted(List.of(round(20, 5, 10)))).containsExactly(2);
        assertThat(times.sorted(List.of(round(20, 0, 0)))).containsExactly(Double.POSITIVE_INFINITY);
        assertThat(Unit.TIMES.show(Double.POSITIVE_INFINITY)).isEqualTo("∞ ×");
    }

    private static Figure.Round round(double ours, double one, double other) {
        return new Figure.Round(Map.of("ours", pairs(ours), "one", pairs(one), "other", pairs(other)));
    }

    private static Measurements pairs(double pairs) {
        Measurements measurements = new Measurements();
        measurements.put("pairs/s", pairs);
        return measurements;
    }
}
