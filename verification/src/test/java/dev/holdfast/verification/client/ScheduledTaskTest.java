package dev.holdfast.verification.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.Hold;
import dev.holdfast.Holdfast;
import dev.holdfast.LockLostException;
import dev.holdfast.LockMismatchException;
import dev.holdfast.LockedTask;
import dev.holdfast.StoreUnavailableException;
import dev.holdfast.spi.Command;
import dev.holdfast.spi.LockStore;
import dev.holdfast.spi.StoreTraits;
import dev.holdfast.spi.StoreTraits.Feature;
import dev.holdfast.spi.support.ForwardingStore;
import dev.holdfast.task.TaskHold;
import dev.holdfast.task.TaskOptions;
import dev.holdfast.task.TaskRun;
import dev.holdfast.verification.world.Actor.Doing;
import dev.holdfast.verification.world.Eventually;
import dev.holdfast.verification.world.FaultyLink;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@DisplayName("A scheduled task")
class ScheduledTaskTest extends ScheduledTaskFixture {

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
    private static final class WithoutDetached extends ForwardingStore {
        WithoutDetached(LockStore store) {
            super(store);
        }

        @Override
        public StoreTraits traits() {
            return super.traits().toBuilder().without(Feature.DETACHED_GRANTS).build();
        }
    }
}
