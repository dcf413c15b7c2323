package dev.holdfast.verification.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.ClientClosedException;
import dev.holdfast.Hold;
import dev.holdfast.Holdfast;
import dev.holdfast.LockLostException;
import dev.holdfast.LockMismatchException;
import dev.holdfast.LockedTask;
import dev.holdfast.Loss;
import dev.holdfast.ScheduledTaskLock;
import dev.holdfast.StoreRefusedException;
import dev.holdfast.StoreUnavailableException;
import dev.holdfast.TaskHold;
import dev.holdfast.TaskOptions;
import dev.holdfast.TaskRun;
import dev.holdfast.spi.CallerMode;
import dev.holdfast.spi.Command;
import dev.holdfast.spi.LockStore;
import dev.holdfast.spi.Reply;
import dev.holdfast.spi.Signal;
import dev.holdfast.spi.StoreException.Effect;
import dev.holdfast.spi.StoreException.Reason;
import dev.holdfast.spi.StoreTraits;
import dev.holdfast.spi.StoreTraits.Feature;
import dev.holdfast.verification.world.Actor;
import dev.holdfast.verification.world.Actor.Doing;
import dev.holdfast.verification.world.Eventually;
import dev.holdfast.verification.world.FaultyLink;
import dev.holdfast.verification.world.World;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@DisplayName("A scheduled task")
class ScheduledTaskTest {

    private static final Duration HOUR = Duration.ofHours(1);
    private static final Duration FIVE_MINUTES = Duration.ofMinutes(5);
    private static final Duration TTL = Duration.ofSeconds(30);

    private final World world = World.still();
    private final FaultyLink link = world.link();
    private final Holdfast alice = world.client("alice", link);
    private final ScheduledTaskLock atAlice = alice.task("report");
    private final ScheduledTaskLock atBob = world.client("bob").task("report");
    private final Actor worker = world.actor("worker");

    @AfterEach
    void close() {
        link.mend();
        world.advance(HOUR);
        world.close();
    }

    private static TaskRun<String> run(ScheduledTaskLock lock, Duration atMost, Duration atLeast) {
        return lock.<String, RuntimeException>callIfDue(
                TaskOptions.atMost(atMost).withAtLeast(atLeast), hold -> "done");
    }

    private static boolean isDue(ScheduledTaskLock lock) {
        return run(lock, HOUR, Duration.ZERO).hasRun();
    }

    /** Begins a task on the worker's thread and returns when it runs; it ends when it is told to or interrupted. */
    private final class Running {
        final AtomicReference<Hold> hold = new AtomicReference<>();
        final CountDownLatch mayEnd = new CountDownLatch(1);
        final Doing<TaskRun<String>> doing;

        Running(ScheduledTaskLock lock, Duration atMost, Duration atLeast) {
            doing = worker.start(() -> lock.<String, InterruptedException>callIfDue(
                    TaskOptions.atMost(atMost).withAtLeast(atLeast), granted -> {
                        hold.set(granted);
                        mayEnd.await();
                        return "done";
                    }));
            Eventually.holds("the task runs", () -> hold.get() != null);
        }

        TaskRun<String> ends() throws Exception {
            mayEnd.countDown();
            return doing.result();
        }
    }

    // ---- Once

    @Test
    @Tag("G1")
    @DisplayName("is run by who comes first, and tells its result; others skip it at once, and learn who has it")
    void runsOnce() {
        List<TaskRun<String>> others = new ArrayList<>();
        TaskRun<Long> run = atAlice.<Long, RuntimeException>callIfDue(TaskOptions.atMost(HOUR), hold -> {
            assertThat(hold.isHeld()).isTrue();
            assertThat(hold.name()).isEqualTo("report");
            assertThat(hold.effectiveLease()).isEqualTo(HOUR);
            assertThat(hold.remaining()).as("a tenth is the margin").isEqualTo(Duration.ofMinutes(54));
            others.add(run(atBob, HOUR, Duration.ZERO));
            others.add(run(atAlice, HOUR, Duration.ZERO));
            return hold.fencingToken();
        });

        assertThat(run.hasRun()).isTrue();
        assertThat(run).isInstanceOf(TaskRun.Ran.class);
        assertThat(others).hasSize(2).allSatisfy(other -> {
            assertThat(other.hasRun()).isFalse();
            assertThat(other)
                    .isInstanceOfSatisfying(
                            TaskRun.Skipped.class,
                            skipped -> assertThat(skipped.why()).contains("alice"));
            assertThatThrownBy(other::value)
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("alice");
        });
        assertThat(world.holderOf("report")).isEmpty();
        TaskRun<Long> next = atBob.<Long, RuntimeException>callIfDue(TaskOptions.atMost(HOUR), Hold::fencingToken);
        assertThat(next.value()).isGreaterThan(run.value());
        assertThat(atBob.<Object, RuntimeException>callIfDue(TaskOptions.atMost(HOUR), hold -> null)
                        .value())
                .isNull();
    }

    @Test
    @Tag("G1")
    @DisplayName("keeps to its name")
    void others() {
        run(atAlice, HOUR, FIVE_MINUTES);
        assertThat(run(alice.task("report-2"), HOUR, Duration.ZERO).hasRun()).isTrue();
        assertThat(run(alice.task("repor"), HOUR, Duration.ZERO).hasRun()).isTrue();
        assertThat(isDue(atBob)).isFalse();
    }

    // ---- At least

    @Test
    @Tag("G2")
    @DisplayName("that ends early is not started again, by anybody, before its least time has passed since its start")
    void atLeast() {
        TaskRun<String> run = atAlice.<String, RuntimeException>callIfDue(
                TaskOptions.atMost(HOUR).withAtLeast(FIVE_MINUTES), hold -> {
                    world.advance(Duration.ofMinutes(1));
                    return "done";
                });
        assertThat(run.value()).isEqualTo("done");
        assertThat(link.sent(Command.Extend.class)).hasSize(1);

        world.advance(FIVE_MINUTES.minusMinutes(1).minusMillis(2));
        assertThat(isDue(atBob)).isFalse();
        assertThat(isDue(atAlice)).isFalse();
        world.advance(Duration.ofMillis(4));
        assertThat(isDue(atBob)).isTrue();
        assertThat(isDue(atAlice)).isTrue();
    }

    @Test
    @Tag("G2")
    @DisplayName("that fails is kept to its least time too; what it throws, checked or not, is thrown")
    void failing() {
        IOException thrown = new IOException("the disk is full");
        assertThatThrownBy(() -> atAlice.<Object, IOException>callIfDue(
                        TaskOptions.atMost(HOUR).withAtLeast(FIVE_MINUTES), hold -> {
                            throw thrown;
                        }))
                .isSameAs(thrown)
                .hasNoSuppressedExceptions();
        assertThat(isDue(atBob)).isFalse();
        world.advance(FIVE_MINUTES.plusMillis(2));
        StackOverflowError error = new StackOverflowError();
        assertThatThrownBy(() -> atBob.<Object, RuntimeException>callIfDue(TaskOptions.atMost(HOUR), hold -> {
                    throw error;
                }))
                .isSameAs(error);
        assertThat(isDue(atAlice)).isTrue();
    }

    @Test
    @Tag("G2")
    @DisplayName("that takes longer than its least time is free as soon as it ends")
    void longerThanAtLeast() {
        atAlice.<String, RuntimeException>callIfDue(TaskOptions.atMost(HOUR).withAtLeast(FIVE_MINUTES), hold -> {
            world.advance(FIVE_MINUTES);
            assertThat(isDue(atBob)).isFalse();
            return "done";
        });
        assertThat(link.sent(Command.Release.class)).hasSize(1);
        assertThat(isDue(atBob)).isTrue();
    }

    @Test
    @Tag("G2")
    @DisplayName("may close its hold: from then on the least time counts, and nothing is held")
    void closesItself() {
        TaskRun<String> run = atAlice.<String, RuntimeException>callIfDue(
                TaskOptions.atMost(HOUR).withAtLeast(FIVE_MINUTES), hold -> {
                    hold.close();
                    hold.close();
                    assertThat(hold.isHeld()).isFalse();
                    assertThat(hold.remaining()).isZero();
                    assertThatThrownBy(hold::fencingToken).isInstanceOf(IllegalStateException.class);
                    assertThatThrownBy(hold::ensureHeld).isInstanceOf(IllegalStateException.class);
                    world.advance(FIVE_MINUTES.plusMillis(2));
                    assertThat(isDue(atBob)).isTrue();
                    return "done";
                });
        assertThat(run.value()).isEqualTo("done");
    }

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

    // ---- Unknown outcomes

    /** Lets time pass until somebody has done what they began. */
    private <T> T comesTo(Doing<T> doing) throws Exception {
        Eventually.holds("it comes to an end", () -> {
            world.advance(Duration.ofMillis(250));
            return doing.isDone();
        });
        return doing.result();
    }

    @Test
    @Tag("G6")
    @DisplayName("runs once if the answer to its claim was lost, and once if the claim was")
    void lostAnswer() throws Exception {
        link.loseReplyToNext(Command.Acquire.class);
        assertThat(comesTo(worker.start(() -> run(atAlice, HOUR, Duration.ZERO)))
                        .hasRun())
                .isTrue();
        link.loseNext(Command.Acquire.class);
        assertThat(comesTo(worker.start(() -> run(atAlice, HOUR, Duration.ZERO)))
                        .hasRun())
                .isTrue();
        link.failNext(Command.Acquire.class, Reason.UNAVAILABLE, Effect.NONE);
        assertThat(comesTo(worker.start(() -> run(atAlice, HOUR, Duration.ZERO)))
                        .hasRun())
                .isTrue();
        assertThat(world.holderOf("report")).isEmpty();
        assertThat(isDue(atBob)).isTrue();
    }

    @Test
    @Tag("G6")
    @DisplayName("is not run if the store does not answer in time; a grant that was under way is withdrawn")
    void unanswered() throws Exception {
        link.loseReplyToNext(Command.Acquire.class);
        link.fail(Command.KeepAlive.class, Reason.UNAVAILABLE, Effect.NONE);
        AtomicBoolean hasRun = new AtomicBoolean();
        Doing<TaskRun<Boolean>> doing = worker.start(() -> atAlice.<Boolean, RuntimeException>callIfDue(
                TaskOptions.atMost(HOUR).withAtLeast(FIVE_MINUTES), hold -> hasRun.getAndSet(true)));
        Eventually.holds(
                "it is granted at the store", () -> world.holderOf("report").isPresent());
        assertThatThrownBy(() -> comesTo(doing))
                .isInstanceOf(StoreUnavailableException.class)
                .hasMessageContaining("was not run")
                .hasMessageContaining("report");
        link.mend();
        world.advance(Duration.ofSeconds(5));
        assertThat(world.holderOf("report")).isEmpty();
        assertThat(hasRun).isFalse();
        assertThat(isDue(atBob)).isTrue();
    }

    @Test
    @Tag("G6")
    @DisplayName("is not run by a grant that comes when its caller has given up, and leaves nothing")
    void lateGrant() throws Exception {
        FaultyLink.HeldUp claim = link.holdUpNext(Command.Acquire.class);
        AtomicBoolean hasRun = new AtomicBoolean();
        Doing<TaskRun<Boolean>> doing = worker.start(() -> atAlice.<Boolean, RuntimeException>callIfDue(
                TaskOptions.atMost(HOUR).withAtLeast(FIVE_MINUTES), hold -> hasRun.getAndSet(true)));
        claim.awaitCommand();
        link.fail(Command.Acquire.class, Reason.UNAVAILABLE, Effect.NONE);
        assertThatThrownBy(() -> comesTo(doing)).isInstanceOf(StoreUnavailableException.class);
        claim.proceed();
        link.mend();
        world.advance(Duration.ofSeconds(5));
        assertThat(world.holderOf("report")).isEmpty();
        assertThat(hasRun).isFalse();
    }

    @Test
    @Tag("G6")
    @DisplayName("waits for a session when its client has lost it, and runs under the next")
    void sessionGone() throws Exception {
        link.cut();
        world.advance(TTL.multipliedBy(2));
        link.mend();
        Doing<TaskRun<String>> doing = worker.start(() -> run(atAlice, HOUR, Duration.ZERO));
        assertThat(comesTo(doing).hasRun()).isTrue();
        // The store ends it, and the client learns that from the answer.
        world.ask(new Command.CloseSession(
                ((Command.Acquire) link.sent(Command.Acquire.class).get(0))
                        .claim()
                        .session()));
        link.answerNext(Command.Acquire.class, new Reply.SessionEnded());
        assertThat(comesTo(worker.start(() -> run(atAlice, HOUR, Duration.ZERO)))
                        .hasRun())
                .isTrue();
    }

    @Test
    @Tag("G6")
    @DisplayName("is not run if the store refuses this client")
    void denied() {
        link.failNext(Command.Acquire.class, Reason.DENIED, Effect.NONE);
        assertThatThrownBy(() -> run(atAlice, HOUR, Duration.ZERO)).isInstanceOf(StoreRefusedException.class);
        world.advance(Duration.ofSeconds(5));
        assertThat(link.sent(Command.Withdraw.class))
                .as("there is nothing to end")
                .isEmpty();
        assertThat(isDue(atBob)).isTrue();
    }

    @Test
    @Tag("G7")
    @DisplayName("whose end is not confirmed has its result; the end is repeated, and lasts no longer for that")
    void unconfirmedEnd() throws Exception {
        link.fail(Command.Extend.class, Reason.UNAVAILABLE, Effect.NONE);
        assertThat(run(atAlice, HOUR, FIVE_MINUTES).value()).isEqualTo("done");
        world.advance(Duration.ofMinutes(2));
        link.mend();
        world.advance(Duration.ofMinutes(3).plusMillis(2));
        assertThat(isDue(atBob)).isTrue();

        link.loseReplyToNext(Command.Extend.class);
        assertThat(comesTo(worker.start(() -> run(atAlice, HOUR, FIVE_MINUTES))).value())
                .isEqualTo("done");
        world.advance(FIVE_MINUTES);
        assertThat(isDue(atBob)).isTrue();

        link.fail(Command.Extend.class, Reason.UNAVAILABLE, Effect.NONE);
        assertThat(run(atAlice, HOUR, FIVE_MINUTES).hasRun()).isTrue();
        world.advance(FIVE_MINUTES.plusSeconds(2));
        assertThat(link.sent(Command.Release.class))
                .as("its least time is over")
                .isNotEmpty();
        assertThat(isDue(atBob)).isTrue();

        link.mend();
        link.failNext(Command.Release.class, Reason.UNAVAILABLE, Effect.NONE);
        assertThat(run(atAlice, HOUR, Duration.ZERO).hasRun()).isTrue();
        world.advance(Duration.ofSeconds(1));
        assertThat(isDue(atBob)).isTrue();
    }

    // ---- Asynchronous

    @Test
    @Tag("G1")
    @Tag("G2")
    @Tag("G4")
    @DisplayName("that does not block lasts until its stage ends, and tells result, failure, skip and loss")
    void asynchronous() throws Exception {
        CompletableFuture<String> work = new CompletableFuture<>();
        CompletableFuture<TaskRun<String>> first = atAlice.runIfDueAsync(
                        TaskOptions.atMost(HOUR).withAtLeast(FIVE_MINUTES), hold -> work)
                .toCompletableFuture();
        TaskRun<String> second = atBob.<String>runIfDueAsync(
                        TaskOptions.atMost(HOUR).withAtLeast(FIVE_MINUTES), hold -> new CompletableFuture<>())
                .toCompletableFuture()
                .get(60, TimeUnit.SECONDS);
        assertThat(second.hasRun()).isFalse();
        world.time().settle();
        assertThat(first).isNotDone();
        work.complete("done");
        assertThat(first.get(60, TimeUnit.SECONDS).value()).isEqualTo("done");
        assertThat(isDue(atBob)).isFalse();
        world.advance(FIVE_MINUTES.plusMillis(2));

        IOException thrown = new IOException("the disk is full");
        assertThatThrownBy(() -> atBob.runIfDueAsync(
                                TaskOptions.atMost(HOUR), hold -> CompletableFuture.<String>failedFuture(thrown))
                        .toCompletableFuture()
                        .get(60, TimeUnit.SECONDS))
                .hasCause(thrown);
        assertThatThrownBy(() -> atBob.<String>runIfDueAsync(TaskOptions.atMost(HOUR), hold -> {
                            throw new IllegalStateException("before it began");
                        })
                        .toCompletableFuture()
                        .get(60, TimeUnit.SECONDS))
                .hasCauseInstanceOf(IllegalStateException.class);

        CompletableFuture<String> endless = new CompletableFuture<>();
        CompletableFuture<TaskRun<String>> lost =
                atAlice.runIfDueAsync(TaskOptions.atMost(HOUR), hold -> endless).toCompletableFuture();
        world.time().settle();
        world.releaseByForce("report");
        assertThatThrownBy(() -> lost.get(60, TimeUnit.SECONDS)).hasCauseInstanceOf(LockLostException.class);
        assertThat(endless).isCancelled();
    }

    @Test
    @Tag("G2")
    @Tag("G6")
    @DisplayName("is cancelled with its result: it ends, or never begins, and leaves no more than its least time")
    void cancelled() throws Exception {
        CompletableFuture<String> work = new CompletableFuture<>();
        CompletableFuture<TaskRun<String>> running = atAlice.runIfDueAsync(
                        TaskOptions.atMost(HOUR).withAtLeast(FIVE_MINUTES), hold -> work)
                .toCompletableFuture();
        Eventually.holds("the task runs", () -> work.getNumberOfDependents() > 0);
        assertThat(running.cancel(false)).isTrue();
        assertThat(work).isCancelled();
        assertThat(isDue(atBob)).isFalse();
        world.advance(FIVE_MINUTES.plusMillis(2));
        assertThat(isDue(atBob)).isTrue();

        AtomicBoolean hasRun = new AtomicBoolean();
        CountDownLatch mayCallBack = new CountDownLatch(1);
        world.time().callbacks().execute(() -> Eventually.holds("the test goes on", () -> mayCallBack.getCount() == 0));
        CompletableFuture<TaskRun<String>> granted = atAlice.<String>runIfDueAsync(
                        TaskOptions.atMost(HOUR).withAtLeast(FIVE_MINUTES), hold -> {
                            hasRun.set(true);
                            return new CompletableFuture<>();
                        })
                .toCompletableFuture();
        Eventually.holds("it is granted", () -> world.holderOf("report").isPresent());
        granted.cancel(false);
        mayCallBack.countDown();
        Eventually.holds(
                "the grant is given back", () -> world.holderOf("report").isEmpty());
        assertThat(hasRun).isFalse();

        FaultyLink.HeldUp claim = link.holdUpNext(Command.Acquire.class);
        CompletableFuture<TaskRun<String>> asked = atAlice.<String>runIfDueAsync(
                        TaskOptions.atMost(HOUR).withAtLeast(FIVE_MINUTES), hold -> {
                            hasRun.set(true);
                            return new CompletableFuture<>();
                        })
                .toCompletableFuture();
        claim.awaitCommand();
        link.forget();
        asked.cancel(false);
        claim.proceed();
        Eventually.holds(
                "the claim is withdrawn",
                () -> !link.sent(Command.Withdraw.class).isEmpty());
        Eventually.holds("nothing is left of it", () -> world.holderOf("report").isEmpty());
        assertThat(hasRun).isFalse();
    }

    // ---- By hand

    @Test
    @Tag("G9")
    @DisplayName("that is begun by hand keeps others out until any thread ends it, and to its least time")
    void begunByHand() throws Exception {
        TaskOptions options = TaskOptions.atMost(HOUR).withAtLeast(FIVE_MINUTES);
        TaskHold hold = atAlice.tryBegin(options).orElseThrow();
        assertThat(atBob.tryBegin(options)).isEmpty();
        assertThat(atAlice.tryBegin(options)).isEmpty();
        assertThat(hold.isHeld()).isTrue();
        worker.run(hold::close);
        hold.close();
        assertThat(isDue(atBob)).isFalse();
        world.advance(FIVE_MINUTES.minusSeconds(1));
        assertThat(isDue(atBob)).isFalse();
        world.advance(Duration.ofSeconds(1));
        assertThat(isDue(atBob)).isTrue();
    }

    @Test
    @Tag("G9")
    @DisplayName("that is extended is kept for the new greatest time")
    void extendedAtMost() {
        TaskHold hold = atAlice.tryBegin(TaskOptions.atMost(FIVE_MINUTES)).orElseThrow();
        world.advance(Duration.ofMinutes(4));
        hold.extend(TaskOptions.atMost(HOUR));
        world.advance(Duration.ofMinutes(50));
        assertThat(hold.isHeld()).isTrue();
        assertThat(isDue(atBob)).isFalse();
        world.advance(Duration.ofMinutes(5));
        assertThat(hold.isHeld()).as("a tenth is the margin").isFalse();
        assertThat(isDue(atBob)).isFalse();
        world.advance(Duration.ofMinutes(5));
        assertThat(isDue(atBob)).isTrue();
        assertThatThrownBy(() -> hold.extend(TaskOptions.atMost(HOUR))).isInstanceOf(LockLostException.class);
    }

    @Test
    @Tag("G9")
    @DisplayName("that is extended is kept for the new least time, counted from the extension")
    void extendedAtLeast() {
        TaskHold hold = atAlice.tryBegin(TaskOptions.atMost(HOUR)).orElseThrow();
        world.advance(Duration.ofMinutes(30));
        hold.extend(TaskOptions.atMost(HOUR).withAtLeast(FIVE_MINUTES));
        hold.extend(TaskOptions.atMost(HOUR).withAtLeast(FIVE_MINUTES.multipliedBy(2)));
        hold.close();
        world.advance(FIVE_MINUTES.multipliedBy(2).minusSeconds(1));
        assertThat(isDue(atBob)).isFalse();
        world.advance(Duration.ofSeconds(1));
        assertThat(isDue(atBob)).isTrue();
        assertThatThrownBy(() -> hold.extend(TaskOptions.atMost(HOUR))).isInstanceOf(IllegalStateException.class);
    }

    @Test
    @Tag("G9")
    @DisplayName("whose extension is not answered keeps its least time, and ends all the same")
    void extensionUnanswered() throws Exception {
        TaskHold hold = atAlice.tryBegin(TaskOptions.atMost(HOUR).withAtLeast(FIVE_MINUTES))
                .orElseThrow();
        link.loseReplyToNext(Command.Extend.class);
        Doing<String> extending = worker.start(() -> {
            hold.extend(TaskOptions.atMost(HOUR.multipliedBy(2)).withAtLeast(HOUR));
            return "extended";
        });
        Eventually.holds("it is sent", () -> link.sent(Command.Extend.class).size() == 1);
        world.advance(Duration.ofSeconds(11));
        assertThatThrownBy(extending::result).isInstanceOf(StoreUnavailableException.class);
        hold.close();
        world.advance(FIVE_MINUTES);
        assertThat(isDue(atBob)).isTrue();
    }

    // ---- Input

    @Test
    @Tag("G8")
    @DisplayName("with durations or a name that make no sense is refused before anything is asked")
    void badInput() {
        link.forget();
        LockedTask<String, RuntimeException> task = hold -> {
            throw new AssertionError("must not run");
        };
        Duration tooLong = Command.MAX_DURATION.plusNanos(1);
        for (Duration atMost : List.of(Duration.ZERO, Duration.ofSeconds(-1), Duration.ofMillis(199), tooLong)) {
            assertThatThrownBy(() -> atAlice.callIfDue(TaskOptions.atMost(atMost), task))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("atMost");
        }
        for (Duration atLeast : List.of(Duration.ofNanos(-1), HOUR.plusNanos(1))) {
            assertThatThrownBy(() -> atAlice.callIfDue(TaskOptions.atMost(HOUR).withAtLeast(atLeast), task))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("atLeast");
            assertThatThrownBy(() -> atAlice.runIfDueAsync(
                            TaskOptions.atMost(HOUR).withAtLeast(atLeast), hold -> new CompletableFuture<>()))
                    .isInstanceOf(IllegalArgumentException.class);
        }
        for (String name : List.of("", " ", "x".repeat(513))) {
            assertThatThrownBy(() -> alice.task(name)).isInstanceOf(IllegalArgumentException.class);
        }
        assertThat(link.sent()).isEmpty();
        assertThatThrownBy(() -> atAlice.<Object, RuntimeException>callIfDue(TaskOptions.atMost(HOUR), hold -> {
                    hold.extend(HOUR);
                    return null;
                }))
                .isInstanceOf(IllegalStateException.class);
    }

    @Test
    @Tag("G8")
    @DisplayName("on a name that is in use as something else is refused, and changes nothing")
    void mismatch() throws InterruptedException {
        try (Hold hold = alice.lock("report").acquire()) {
            assertThatThrownBy(() -> run(atAlice, HOUR, Duration.ZERO)).isInstanceOf(LockMismatchException.class);
            assertThatThrownBy(() -> run(atBob, HOUR, Duration.ZERO)).isInstanceOf(LockMismatchException.class);
            assertThat(hold.isHeld()).isTrue();
        }
        atBob.<Object, RuntimeException>callIfDue(TaskOptions.atMost(HOUR), hold -> {
            assertThatThrownBy(() -> alice.lock("report").tryAcquire()).isInstanceOf(LockMismatchException.class);
            assertThat(hold.isHeld()).isTrue();
            return null;
        });
    }

    @Test
    @Tag("G8")
    @DisplayName("is refused by a store that has no leases that outlive their client")
    void noDetachedLeases() {
        LockStore plain = new WithoutDetached(world.link());
        Holdfast client = world.client(Holdfast.builder(plain).environment(world.time()));
        assertThatThrownBy(() -> client.task("report"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("report")
                .hasMessageContaining("outlive");
    }

    /** A store that keeps no lease beyond its session. */
    private record WithoutDetached(LockStore store) implements LockStore {
        @Override
        public StoreTraits traits() {
            return store.traits().toBuilder().without(Feature.DETACHED_GRANTS).build();
        }

        @Override
        public CompletionStage<Reply> execute(Command command, CallerMode caller) {
            return store.execute(command, caller);
        }

        @Override
        public Subscription subscribe(Consumer<Signal> listener) {
            return store.subscribe(listener);
        }

        @Override
        public void close() {
            store.close();
        }
    }
}
