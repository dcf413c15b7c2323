package dev.holdfast.verification.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.Hold;
import dev.holdfast.Holdfast;
import dev.holdfast.admin.ClientState;
import dev.holdfast.admin.ClientState.Status;
import dev.holdfast.admin.HealthReport;
import dev.holdfast.spi.Command;
import dev.holdfast.spi.ResourceName;
import dev.holdfast.spi.StoreException.Effect;
import dev.holdfast.spi.StoreException.Reason;
import dev.holdfast.verification.world.Actor;
import dev.holdfast.verification.world.Actor.Doing;
import dev.holdfast.verification.world.Eventually;
import dev.holdfast.verification.world.FaultyLink;
import dev.holdfast.verification.world.World;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@DisplayName("The health of a client")
class HealthTest {

    private static final Duration BOUND = Duration.ofSeconds(1);

    @Test
    @Tag("Z4")
    @DisplayName("is good while the store answers, and costs one question that changes nothing")
    void healthy() {
        try (World world = World.still()) {
            FaultyLink link = world.link();
            Holdfast client = world.client("alice", link);
            link.forget();
            HealthReport report = client.checkHealth(BOUND);
            assertThat(report.problem()).isEmpty();
            assertThat(report.isHealthy()).isTrue();
            assertThat(report.roundTrip()).contains(Duration.ZERO);
            assertThat(report.client().status()).isEqualTo(Status.CONNECTED);
            assertThat(link.sent()).hasSize(1).hasOnlyElementsOfType(Command.Inspect.class);
            assertThat(client.checkHealthAsync(BOUND)
                            .toCompletableFuture()
                            .join()
                            .isHealthy())
                    .isTrue();
        }
    }

    @Test
    @Tag("Z4")
    @DisplayName("is told within the bound by a store that does not answer, to a thread and to a stage")
    void bounded() throws Exception {
        try (World world = World.still()) {
            FaultyLink link = world.link();
            Holdfast client = world.client("alice", link);
            link.cut();
            Actor thread = world.actor("probe");
            Doing<HealthReport> checking = thread.start(() -> client.checkHealth(BOUND));
            CompletableFuture<HealthReport> stage =
                    client.checkHealthAsync(BOUND).toCompletableFuture();
            Eventually.holds("both ask", () -> link.sent(Command.Inspect.class).size() == 2);
            world.advance(BOUND.minusNanos(1));
            assertThat(stage).isNotDone();
            world.advance(Duration.ofNanos(1));
            Eventually.holds("the stage has ended", stage::isDone);
            assertThat(stage.join().isHealthy()).isFalse();
            assertThat(checking.result().problem())
                    .hasValueSatisfying(problem -> assertThat(problem).contains("did not answer within 1 s"));
            assertThat(checking.result().roundTrip()).isEmpty();
        }
    }

    @Test
    @Tag("Z4")
    @DisplayName("is told soon by a store that fails, with the reason, and an interrupt stays pending")
    void failing() throws Exception {
        try (World world = World.still()) {
            FaultyLink link = world.link();
            Holdfast client = world.client("alice", link);
            link.fail(Command.Inspect.class, Reason.UNAVAILABLE, Effect.NONE);
            Doing<HealthReport> checking = world.actor("probe").start(() -> {
                Thread.currentThread().interrupt();
                HealthReport told = client.checkHealth(BOUND);
                assertThat(Thread.interrupted()).isTrue();
                return told;
            });
            world.advanceUntil("the check ends", checking::isDone);
            HealthReport report = checking.result();
            assertThat(report.isHealthy()).isFalse();
            assertThat(report.problem().orElseThrow()).contains("can't be queried", "the test says so");
        }
    }

    @Test
    @Tag("Z4")
    @DisplayName("asks again after a message that was lost")
    void lostMessage() throws Exception {
        try (World world = World.still()) {
            FaultyLink link = world.link();
            Holdfast client = world.client("alice", link);
            link.failNext(Command.Inspect.class, Reason.UNAVAILABLE, Effect.UNKNOWN);
            Doing<HealthReport> checking = world.actor("probe").start(() -> client.checkHealth(BOUND));
            world.advanceUntil("the check ends", checking::isDone);
            assertThat(checking.result().isHealthy()).isTrue();
        }
    }

    @Test
    @Tag("Z4")
    @DisplayName("is not good while the session is not renewed, though the store answers questions")
    void troubled() throws Exception {
        try (World world = World.still()) {
            FaultyLink link = world.link();
            Holdfast client = world.client("alice", link);
            Hold hold = client.lock("ledger").acquire();
            link.fail(Command.KeepAlive.class, Reason.UNAVAILABLE, Effect.NONE);
            world.advance(Duration.ofSeconds(12));
            HealthReport report = client.checkHealth(BOUND);
            assertThat(report.roundTrip()).isPresent();
            assertThat(report.client().status()).isEqualTo(Status.TROUBLED);
            assertThat(report.isHealthy()).isFalse();
            link.mend();
            world.advance(Duration.ofSeconds(2));
            assertThat(client.checkHealth(BOUND).isHealthy()).isTrue();
            assertThat(hold.isHeld()).isTrue();
            hold.close();
        }
    }

    @Test
    @Tag("Z4")
    @DisplayName("is told of a closed client, and a bound that is none is refused")
    void closed() {
        try (World world = World.still()) {
            Holdfast client = world.client("alice");
            assertThatThrownBy(() -> client.checkHealth(Duration.ZERO)).isInstanceOf(IllegalArgumentException.class);
            client.close();
            HealthReport report = client.checkHealth(BOUND);
            assertThat(report.isHealthy()).isFalse();
            assertThat(report.problem().orElseThrow()).contains("closed");
            assertThat(client.state().status()).isEqualTo(Status.CLOSED);
            assertThat(client.checkHealthAsync(BOUND)
                            .toCompletableFuture()
                            .join()
                            .isHealthy())
                    .isFalse();
        }
    }

    @Test
    @Tag("Z4")
    @DisplayName("is asked of each partition in use, all at the same time, and one that is dead is enough to spoil it")
    void partitions() throws Exception {
        try (World world = World.inParts(4)) {
            FaultyLink link = world.link();
            Holdfast client = world.client("alice", link);
            List<Hold> holds = new ArrayList<>();
            for (int i = 0; i < 32; i++) {
                holds.add(client.lock("lock-" + i).acquire());
            }
            link.forget();
            assertThat(client.checkHealth(BOUND).problem()).isEmpty();
            assertThat(link.sent(Command.Inspect.class).stream()
                            .map(command -> link.partitionOf(new ResourceName(command.prefix()))))
                    .containsExactlyInAnyOrder(0, 1, 2, 3);
            link.loseNext(Command.Inspect.class);
            CompletableFuture<HealthReport> stage =
                    client.checkHealthAsync(BOUND).toCompletableFuture();
            world.advance(BOUND);
            Eventually.holds("the stage has ended", stage::isDone);
            assertThat(stage.join().isHealthy()).isFalse();
            holds.forEach(Hold::close);
        }
    }

    @Test
    @Tag("Z5")
    @DisplayName(
            "is known without asking: holds, waiting requests, the last keep-alive and what is left of the session")
    void state() throws Exception {
        try (World world = World.still()) {
            FaultyLink link = world.link();
            Holdfast client = world.client("alice", link);
            Hold hold = client.lock("ledger").acquire();
            Hold reading = client.readWriteLock("catalogue").readLock().acquire();
            Hold both = client.semaphore("gpu", 3).acquire(2);
            CompletableFuture<Hold> waiting =
                    client.lock("ledger").acquireAsync().toCompletableFuture();
            world.advance(Duration.ofSeconds(3));
            link.forget();
            ClientState state = client.state();
            assertThat(link.sent()).isEmpty();
            assertThat(state.status()).isEqualTo(Status.CONNECTED);
            assertThat(state.holds()).isEqualTo(3);
            assertThat(state.waiting()).isEqualTo(1);
            assertThat(state.sinceKeepAlive()).contains(Duration.ofSeconds(3));
            assertThat(state.sessionLeft()).contains(Duration.ofSeconds(24));
            world.advance(Duration.ofSeconds(8));
            assertThat(client.state().sinceKeepAlive()).contains(Duration.ofSeconds(1));
            waiting.cancel(false);
            hold.close();
            reading.close();
            both.close();
            assertThat(client.state().holds()).isZero();
            assertThat(client.state().waiting()).isZero();
        }
    }

    @Test
    @Tag("Z5")
    @DisplayName("tells that the session is gone and the holds with it, and that another is there")
    void disconnected() throws Exception {
        try (World world = World.still()) {
            FaultyLink link = world.link();
            Holdfast client = world.client("alice", link);
            Hold hold = client.lock("ledger").acquire();
            link.cut();
            world.advance(Duration.ofSeconds(15));
            assertThat(client.state().status()).isEqualTo(Status.TROUBLED);
            assertThat(client.state().holds()).isEqualTo(1);
            world.advance(Duration.ofSeconds(20));
            ClientState lost = client.state();
            assertThat(lost.status()).isEqualTo(Status.DISCONNECTED);
            assertThat(lost.holds()).isZero();
            assertThat(lost.sinceKeepAlive()).isEmpty();
            assertThat(lost.sessionLeft()).isEmpty();
            link.mend();
            world.advance(Duration.ofSeconds(10));
            assertThat(client.state().status()).isEqualTo(Status.CONNECTED);
            assertThat(hold.isHeld()).isFalse();
        }
    }
}
