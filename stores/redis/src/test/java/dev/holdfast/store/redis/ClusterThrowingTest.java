package dev.holdfast.store.redis;

import static dev.holdfast.store.redis.Asking.until;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;

import dev.holdfast.spi.Signal;
import dev.holdfast.store.redis.ThrowingConnections.Place;
import dev.holdfast.store.redis.connection.ConnectionFactory;
import dev.holdfast.store.redis.script.BucketLayout;
import dev.holdfast.store.redis.topology.ClusterNode;
import dev.holdfast.store.redis.topology.ClusterTopology;
import dev.holdfast.testkit.FaultInTurn;
import java.time.Duration;
import java.util.OptionalInt;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

@DisplayName("Whatever the driver throws at what is kept of a cluster")
@Tag("server")
@Timeout(value = 5, unit = TimeUnit.MINUTES)
class ClusterThrowingTest {

    /** As many as there are kinds of throwables. */
    private static final int TURNS = 4;

    private static final int BUCKETS = 64;
    private static final Duration TIMEOUT = Duration.ofSeconds(60);

    @ParameterizedTest(name = "at {0}")
    @EnumSource(names = {"SLOTS", "SLOTS_ANSWER"})
    @DisplayName("it is asked again who serves what")
    void slots(Place place) {
        FaultInTurn<Place> fault = new FaultInTurn<>(place);
        ThrowingConnections connections = new ThrowingConnections(fault);
        try (Opened opened = new Opened(connections)) {
            for (int turn = 1; turn <= TURNS; turn++) {
                fault.at(turn);
                untilAskedAfter(opened, connections, connections.slotsAsked() + turn);
                assertThat(fault.isOver()).as("turn " + turn).isTrue();
                untilAskedAfter(opened, connections, connections.slotsAsked());
            }
        }
    }

    private static void untilAskedAfter(Opened opened, ThrowingConnections connections, int before) {
        until("it is asked", () -> {
            opened.topology.refresh();
            return connections.slotsAsked() > before;
        });
    }

    @ParameterizedTest(name = "at {0}")
    @EnumSource(names = {"SUBSCRIBE", "SUBSCRIBED"})
    @DisplayName("every bucket is listened to in the end")
    void subscriptions(Place place) throws Exception {
        FaultInTurn<Place> fault = new FaultInTurn<>(place);
        try (Opened opened = new Opened(new ThrowingConnections(fault))) {
            for (int bucket = 0; bucket < 2 * TURNS; bucket++) {
                fault.at(1 + bucket % 2);
                opened.topology.listen(bucket).toCompletableFuture().get(60, TimeUnit.SECONDS);
                opened.topology.ignore(bucket);
                opened.topology.listen(bucket).toCompletableFuture().get(60, TimeUnit.SECONDS);
                assertThat(fault.isOver()).as("bucket " + bucket).isTrue();
            }
        }
    }

    @ParameterizedTest(name = "at {0}")
    @EnumSource(names = {"UNSUBSCRIBE"})
    @DisplayName("a bucket that moves is listened to where it is")
    void moving(Place place) throws Exception {
        FaultInTurn<Place> fault = new FaultInTurn<>(place);
        try (Opened opened = new Opened(new ThrowingConnections(fault))) {
            for (int bucket = 0; bucket < TURNS; bucket++) {
                int moving = bucket;
                AtomicInteger made = new AtomicInteger();
                try (var listening = opened.topology.signals().subscribe(signal -> {
                    if (signal instanceof Signal.Resubscribed again
                            && again.partition().equals(OptionalInt.of(moving))) {
                        made.incrementAndGet();
                    }
                })) {
                    opened.topology.listen(bucket).toCompletableFuture().get(60, TimeUnit.SECONDS);
                    ClusterNode here = opened.topology.ownerOf(bucket);
                    ClusterNode there = IntStream.range(0, BUCKETS)
                            .mapToObj(opened.topology::ownerOf)
                            .filter(node -> !node.equals(here))
                            .findFirst()
                            .orElseThrow();
                    fault.at(1);
                    int before = made.get();
                    assertThatCode(() -> opened.topology.moved(moving, there.place()))
                            .doesNotThrowAnyException();

                    until("bucket " + bucket + " is listened to again", () -> made.get() > before);
                    assertThat(fault.isOver()).as("bucket " + bucket).isTrue();
                }
            }
        }
    }

    /** What is kept of the cluster, opened. */
    private static final class Opened implements AutoCloseable {
        private final ClusterTopology topology;

        Opened(ThrowingConnections connections) {
            RedisStore.Builder options =
                    TestCluster.builder(TestCluster.shared()).connections(connections);
            topology = new ClusterTopology(
                    new ConnectionFactory(options.connectionOptions()),
                    options.servers(),
                    new BucketLayout("throwing", BUCKETS),
                    "throwing-client",
                    TIMEOUT);
            assertThat(topology.open(TIMEOUT)).isNotNull();
        }

        @Override
        public void close() {
            topology.close();
        }
    }
}
