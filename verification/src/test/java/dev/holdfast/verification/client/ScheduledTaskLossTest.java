package dev.holdfast.verification.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.ClientClosedException;
import dev.holdfast.LockLostException;
import dev.holdfast.Loss;
import dev.holdfast.spi.Command;
import dev.holdfast.task.TaskOptions;
import dev.holdfast.verification.world.Eventually;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@DisplayName("A scheduled task")
class ScheduledTaskLossTest extends ScheduledTaskFixture {

    // ---- At most

    @Test
    @Tag("G3")
    @Tag("G4")
    @DisplayName(
            "that hangs is told by loss and interrupt before its greatest time is over, and then another may run it")
    void hangs() throws Exception {
        List<Loss> told = new ArrayList<>();
        Running running = new Running(atAlice, HOUR, FIVE_MINUTES);
        running.hold.get().onLost(told::add);
        world.advance(Duration.ofMinutes(53));
        assertThat(running.hold.get().isHeld()).isTrue();

        world.advance(Duration.ofMinutes(2));
        assertThat(running.hold.get().isHeld()).isFalse();
        assertThat(told).extracting(Loss::cause).containsExactly(Loss.Cause.LEASE_ENDED);
        assertThatThrownBy(running.doing::result).isInstanceOfSatisfying(LockLostException.class, e -> {
            assertThat(e.loss().cause()).isEqualTo(Loss.Cause.LEASE_ENDED);
            assertThat(e.getSuppressed()).singleElement().isInstanceOf(InterruptedException.class);
        });
        assertThat(worker.<Boolean>call(Thread::interrupted)).isFalse();
        assertThat(isDue(atBob)).isFalse();
        world.advance(Duration.ofMinutes(5));
        assertThat(isDue(atBob)).isTrue();
    }

    @Test
    @Tag("G4")
    @DisplayName("that returns though its hold was lost has no result, and the interrupt does not outlive it")
    void lostAndReturned() {
        assertThatThrownBy(() -> atAlice.<String, RuntimeException>callIfDue(
                        TaskOptions.atMost(HOUR).withAtLeast(FIVE_MINUTES), hold -> {
                            world.releaseByForce("report");
                            Eventually.holds("the thread is interrupted", Thread.currentThread()::isInterrupted);
                            return "a result that may be stale";
                        }))
                .hasNoSuppressedExceptions()
                .isInstanceOfSatisfying(
                        LockLostException.class,
                        e -> assertThat(e.loss().cause()).isEqualTo(Loss.Cause.REMOVED));
        assertThat(Thread.interrupted()).isFalse();
        assertThat(isDue(atBob)).isTrue();
    }

    @Test
    @Tag("G4")
    @DisplayName("learns of a removal that nobody told within a ttl, and at the latest at its end")
    void removedInSilence() {
        link.loseSignals();
        assertThatThrownBy(() -> atAlice.<String, RuntimeException>callIfDue(
                        TaskOptions.atMost(HOUR).withAtLeast(FIVE_MINUTES), hold -> {
                            world.releaseByForce("report");
                            assertThat(hold.isHeld()).isTrue();
                            world.advance(TTL.plusSeconds(4));
                            assertThat(hold.isHeld()).isFalse();
                            Eventually.holds("the thread is interrupted", Thread.currentThread()::isInterrupted);
                            return "done";
                        }))
                .isInstanceOf(LockLostException.class)
                .hasNoSuppressedExceptions();
        for (Duration atLeast : List.of(FIVE_MINUTES, Duration.ZERO)) {
            assertThatThrownBy(() -> atAlice.<String, RuntimeException>callIfDue(
                            TaskOptions.atMost(HOUR).withAtLeast(atLeast), hold -> {
                                world.releaseByForce("report");
                                return "done";
                            }))
                    .isInstanceOfSatisfying(
                            LockLostException.class,
                            e -> assertThat(e.loss().cause()).isEqualTo(Loss.Cause.REMOVED));
        }
    }

    @Test
    @Tag("G4")
    @DisplayName("learns within a ttl that its lease was made shorter at the store")
    void shortened() {
        assertThat(atAlice.<String, RuntimeException>callIfDue(TaskOptions.atMost(HOUR), hold -> {
                            var claim = link.sent(Command.Acquire.class).get(0).claim();
                            world.ask(new Command.Extend(claim, 1, Duration.ofMinutes(20)));
                            world.advance(TTL.plusSeconds(4));
                            assertThat(hold.remaining()).isLessThan(Duration.ofMinutes(14));
                            assertThat(hold.isHeld()).isTrue();
                            return "done";
                        })
                        .hasRun())
                .isTrue();
    }

    @Test
    @Tag("G4")
    @DisplayName("on a machine that slept longer than the greatest time finds at its first look that its hold is lost")
    void slept() {
        assertThatThrownBy(() -> atAlice.<String, RuntimeException>callIfDue(
                        TaskOptions.atMost(HOUR).withAtLeast(FIVE_MINUTES), hold -> {
                            world.time().suspend(HOUR);
                            assertThat(hold.isHeld()).isFalse();
                            assertThatThrownBy(hold::ensureHeld).isInstanceOf(LockLostException.class);
                            return "done";
                        }))
                .isInstanceOf(LockLostException.class)
                .hasNoSuppressedExceptions();
    }

    @Test
    @Tag("G4")
    @DisplayName("is in doubt after a step of the wall clock, until the store was asked")
    void doubt() {
        assertThat(atAlice.<String, RuntimeException>callIfDue(
                                TaskOptions.atMost(HOUR).withAtLeast(FIVE_MINUTES), hold -> {
                                    world.time().stepWall(Duration.ofSeconds(10));
                                    assertThat(hold.isHeld()).isFalse();
                                    hold.ensureHeld();
                                    assertThat(hold.isHeld()).isTrue();
                                    return "done";
                                })
                        .hasRun())
                .isTrue();
    }

    // ---- Detached

    @Test
    @Tag("G5")
    @DisplayName("keeps its hold when the session is lost, and leaves the least time behind when the store is back")
    void sessionLost() throws Exception {
        Running running = new Running(atAlice, HOUR, Duration.ofMinutes(30));
        link.cut();
        world.advance(TTL.multipliedBy(4));
        assertThat(running.hold.get().isHeld()).isTrue();
        link.mend();
        world.advance(TTL);

        assertThat(running.ends().value()).isEqualTo("done");
        assertThat(isDue(atBob)).isFalse();
        world.advance(Duration.ofMinutes(28));
        assertThat(isDue(atBob)).isTrue();
    }

    @Test
    @Tag("G5")
    @DisplayName("is left alone by the audits of its client, while it runs and while its least time passes")
    void audits() throws Exception {
        Running running = new Running(atAlice, HOUR, Duration.ofMinutes(40));
        world.advance(TTL.multipliedBy(10));
        assertThat(link.sent(Command.Audit.class)).isNotEmpty();
        assertThat(running.hold.get().isHeld()).isTrue();
        running.ends();
        for (int i = 0; i < 68; i++) {
            world.advance(TTL);
            assertThat(world.holderOf("report")).contains("alice");
        }
        assertThat(link.sent(Command.Withdraw.class)).isEmpty();
        world.advance(TTL.multipliedBy(3));
        assertThat(world.holderOf("report")).isEmpty();
    }

    @Test
    @Tag("G3")
    @Tag("G5")
    @DisplayName("whose process dies stays locked to its greatest time, and no longer")
    void processDies() {
        Running running = new Running(atAlice, HOUR, FIVE_MINUTES);
        link.cut();
        world.advance(HOUR.minusSeconds(1));
        assertThat(isDue(atBob)).isFalse();
        world.advance(Duration.ofSeconds(2));
        assertThat(isDue(atBob)).isTrue();
        assertThatThrownBy(running.doing::result).isInstanceOf(LockLostException.class);
    }

    @Test
    @Tag("G3")
    @Tag("G5")
    @DisplayName("whose client is closed is told, and stays locked to its greatest time: it may still be running")
    void clientClosed() throws Exception {
        Running running = new Running(atAlice, HOUR, FIVE_MINUTES);
        alice.close();
        assertThat(running.hold.get().isHeld()).isFalse();
        assertThatThrownBy(running.doing::result)
                .isInstanceOfSatisfying(
                        LockLostException.class,
                        e -> assertThat(e.loss().cause()).isEqualTo(Loss.Cause.CLIENT_CLOSED));
        assertThat(isDue(atBob)).isFalse();
        world.advance(HOUR.plusSeconds(1));
        assertThat(isDue(atBob)).isTrue();

        assertThatThrownBy(() -> run(atAlice, HOUR, FIVE_MINUTES)).isInstanceOf(ClientClosedException.class);
        assertThatThrownBy(() -> alice.task("report")).isInstanceOf(ClientClosedException.class);
        assertThatThrownBy(() -> atAlice.runIfDueAsync(
                                TaskOptions.atMost(HOUR).withAtLeast(FIVE_MINUTES), hold -> new CompletableFuture<>())
                        .toCompletableFuture()
                        .get(60, TimeUnit.SECONDS))
                .hasCauseInstanceOf(ClientClosedException.class);
    }
}
