package dev.holdfast.benchmarks.workload.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.benchmarks.harness.Bench;
import dev.holdfast.benchmarks.harness.Contestant;
import dev.holdfast.benchmarks.harness.Crew;
import dev.holdfast.benchmarks.harness.Guarded;
import dev.holdfast.benchmarks.harness.Sheet;
import dev.holdfast.benchmarks.server.Meter;
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

    static Stream<Field> fields() {
        return Stream.of(Field.POSTGRESQL, Field.MARIADB, Field.ZOOKEEPER);
    }

    @ParameterizedTest
    @MethodSource("fields")
    @DisplayName("lock, for one client after another")
    void lock(Field field, @TempDir Path place) throws Exception {
        SERVERS.lend(field.server(), place);
        List<Contestant> contestants = new ArrayList<>(field.all());
        contestants.addAll(field.fair());
        for (Contestant contestant : contestants) {
            for (int client = 0; client < 2; client++) {
                Sheet sheet = new Sheet();
                lock(contestant, place, sheet);
                assertThat(sheet.violations()).as(contestant.title()).isEmpty();
            }
        }
    }

    @Test
    @NeedsEtcd
    @DisplayName("lock on etcd, for one client after another, and can tell what a write takes")
    void onEtcd(@TempDir Path first, @TempDir Path second) throws Exception {
        lock(Field.ETCD, first);
        ping(Field.ETCD, second);
    }

    private static void lock(Contestant contestant, Path place, Sheet sheet) throws Exception {
        Guarded guarded = Guarded.inMemory();
        try (Contestant.Client client = contestant.connect(place)) {
            Bench bench = Bench.after(Duration.ZERO, place, Duration.ofMillis(50), 0.01);
            Crew.Tally tally = Crew.run(bench, 2, unused -> new Crew.Post(client.mutex("name"), guarded));
            assertThat(tally.passes()).as(contestant.title()).isPositive();
            guarded.check(tally.passes(), sheet);
        }
    }

    @ParameterizedTest
    @MethodSource("fields")
    @DisplayName("can tell what a write takes, if they are in strict order")
    void ping(Field field, @TempDir Path place) {
        SERVERS.lend(field.server(), place);
        try (Contestant.Client client = field.oursFair().connect(place);
                Meter meter = Meter.of(field.server(), place)) {
            Meter.Reading before = meter.read();
            for (int i = 0; i < 20; i++) {
                client.ping().orElseThrow().run();
            }
            assertThat(meter.read().since(before).commits()).isGreaterThanOrEqualTo(20);
        }
    }
}
