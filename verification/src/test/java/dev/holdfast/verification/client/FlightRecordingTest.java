package dev.holdfast.verification.client;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.DistributedLock;
import dev.holdfast.Hold;
import dev.holdfast.Holdfast;
import dev.holdfast.verification.world.Actor;
import dev.holdfast.verification.world.Actor.Doing;
import dev.holdfast.verification.world.World;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import jdk.jfr.Recording;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordingFile;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

@DisplayName("A flight recording tells of waits, holds, hand-offs and losses")
class FlightRecordingTest {

    @TempDir
    private Path directory;

    @Test
    void recorded() throws Exception {
        Path file = directory.resolve("locks.jfr");
        long token;
        try (World world = World.live();
                Recording recording = new Recording()) {
            for (String event : List.of("Wait", "Hold", "HandOver", "Loss")) {
                recording.enable("dev.holdfast." + event).withoutThreshold();
            }
            recording.start();
            DistributedLock lock = world.client("alice").lock("recorded");
            Actor alice = world.actor("alice");
            Actor bob = world.actor("bob");
            Hold first = alice.call(() -> lock.acquire());
            Doing<Hold> second = bob.startWaiting(() -> lock.acquire());
            alice.run(first::close);
            token = bob.call(() -> second.result().fencingToken());
            bob.run(second.result()::close);
            Hold third = alice.call(() -> lock.acquire());
            world.releaseByForce("recorded");
            dev.holdfast.verification.world.Eventually.holds("the loss is known", () -> !third.isHeld());
            alice.run(() -> third.releaseAsync().toCompletableFuture().join());
            recording.stop();
            recording.dump(file);
        }
        List<RecordedEvent> events = RecordingFile.readAllEvents(file).stream()
                .filter(event -> event.hasField("resource") && "recorded".equals(event.getString("resource")))
                .toList();
        assertThat(named(events, "Wait")).hasSize(3).allMatch(event -> "granted".equals(event.getString("outcome")));
        assertThat(named(events, "HandOver")).singleElement().matches(event -> event.getLong("token") == token);
        assertThat(named(events, "Hold"))
                .extracting(event -> event.getString("outcome"))
                .containsExactlyInAnyOrder("released", "released", "lost");
        assertThat(named(events, "Loss")).hasSize(1).allMatch(event -> "removed".equals(event.getString("cause")));
        assertThat(events).allMatch(event -> "mutex".equals(event.getString("kind")));
    }

    @Test
    @DisplayName("and of deadlocks, with their members")
    void deadlocks() throws Exception {
        Path file = directory.resolve("deadlocks.jfr");
        try (World world = World.still();
                Recording recording = new Recording()) {
            recording.enable("dev.holdfast.Deadlock");
            recording.start();
            Holdfast client = world.client("alice");
            Actor one = world.actor("one");
            Actor two = world.actor("two");
            one.run(() -> client.lock("first").lock());
            two.run(() -> client.lock("second").lock());
            Doing<Hold> forward = one.startWaiting(() -> client.lock("second").acquire());
            Doing<Hold> back = two.startWaiting(() -> client.lock("first").acquire());
            world.advance(Duration.ofSeconds(2));
            recording.stop();
            recording.dump(file);
            assertThat(forward.isDone() || back.isDone()).isFalse();
        }
        List<RecordedEvent> events = RecordingFile.readAllEvents(file).stream()
                .filter(event -> event.getEventType().getName().equals("dev.holdfast.Deadlock"))
                .toList();
        assertThat(events).singleElement().satisfies(event -> {
            assertThat(event.getInt("members")).isEqualTo(2);
            assertThat(event.getString("description")).contains("'first'", "'second'", "thread one", "thread two");
        });
    }

    private static List<RecordedEvent> named(List<RecordedEvent> events, String name) {
        return events.stream()
                .filter(event -> event.getEventType().getName().equals("dev.holdfast." + name))
                .toList();
    }
}
