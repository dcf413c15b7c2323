package dev.holdfast.benchmarks.workload.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.benchmarks.harness.Bench;
import dev.holdfast.benchmarks.harness.Contestant;
import dev.holdfast.benchmarks.harness.Guarded;
import dev.holdfast.benchmarks.harness.Measurements;
import dev.holdfast.benchmarks.harness.Workers;
import dev.holdfast.benchmarks.server.Meter;
import dev.holdfast.benchmarks.server.Ping;
import dev.holdfast.benchmarks.server.Servers;
import dev.holdfast.servers.NeedsEtcd;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

@DisplayName("Those who are measured on a server")
@Tag("server")
class ContestantsTest {

    private static final Servers SERVERS = new Servers();

    @AfterAll
    static void endServers() {
        SERVERS.close();
    }

    static Stream<Contestants> fields() {
        return Stream.of(Contestants.POSTGRESQL, Contestants.MARIADB, Contestants.ZOOKEEPER);
    }

    @ParameterizedTest
    @MethodSource("fields")
    @DisplayName("lock, for one client after another")
    void lock(Contestants on, @TempDir Path place) throws Exception {
        SERVERS.lend(on.server(), place);
        List<Contestant> contestants = new ArrayList<>(on.all());
        contestants.addAll(on.fair());
        for (Contestant contestant : contestants) {
            for (int client = 0; client < 2; client++) {
                Measurements measurements = new Measurements();
                lock(contestant, place, measurements);
                assertThat(measurements.violations()).as(contestant.title()).isEmpty();
            }
        }
    }

    @Test
    @NeedsEtcd
    @DisplayName("lock on etcd, for one client after another, and can be compared with what a write takes")
    void onEtcd(@TempDir Path first, @TempDir Path second) throws Exception {
        lock(Contestants.ETCD, first);
        ping(Contestants.ETCD, second);
    }

    private static void lock(Contestant contestant, Path place, Measurements measurements) throws Exception {
        Guarded guarded = Guarded.inMemory();
        try (Contestant.Client client = contestant.connect(place)) {
            Bench bench = Bench.after(Duration.ZERO, place, Duration.ofMillis(50), 0.01);
            Workers.Tally tally = Workers.of(bench, 2, unused -> new Workers.Post(client.mutex("name"), guarded))
                    .run();
            assertThat(tally.passes()).as(contestant.title()).isPositive();
            guarded.check(tally.passes(), measurements);
        }
    }

    @ParameterizedTest
    @MethodSource("fields")
    @DisplayName("can be compared with what a write takes")
    void ping(Contestants on, @TempDir Path place) {
        SERVERS.lend(on.server(), place);
        try (Ping ping = Ping.of(on.server(), place);
                Meter meter = Meter.of(on.server(), place)) {
            Meter.Reading before = meter.read();
            for (int i = 0; i < 20; i++) {
                ping.request().run();
            }
            assertThat(meter.read().since(before).commits()).isGreaterThanOrEqualTo(20);
        }
    }
}
