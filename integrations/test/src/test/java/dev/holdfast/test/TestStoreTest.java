package dev.holdfast.test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.AcquireOptions;
import dev.holdfast.DistributedLock;
import dev.holdfast.Hold;
import dev.holdfast.Holdfast;
import dev.holdfast.LockLostException;
import dev.holdfast.Loss;
import dev.holdfast.StoreUnavailableException;
import dev.holdfast.task.TaskOptions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

@DisplayName("A test's store")
class TestStoreTest {

    private static final Duration TTL = Duration.ofSeconds(30);
    private static final long LONG = 60;

    private final TestStore store = TestStore.create(builder -> builder.sessionTtl(TTL));
    private final DistributedLock lock = store.client().lock("report");

    @AfterEach
    void close() {
        store.close();
    }

    private static <T> T result(CompletableFuture<T> future) throws Exception {
        return future.get(LONG, TimeUnit.SECONDS);
    }

    @Test
    @DisplayName("renews what is held for as long as time is moved, and no longer than the lease without the program")
    void renewsAndExpires() throws Exception {
        Hold hold = lock.acquire();
        store.advance(TTL.multipliedBy(20));
        assertThat(hold.isHeld()).isTrue();
        store.assertHeld("report");
        store.pause(TTL.plusSeconds(1));
        assertThat(hold.isHeld()).isFalse();
        store.assertFree("report");
        assertThatThrownBy(hold::close).isInstanceOf(LockLostException.class);
    }

    @Test
    @DisplayName("keeps what somebody else holds through a pause of the program")
    void otherOutlivesPause() {
        Hold other = store.take("report");
        store.pause(TTL.multipliedBy(10));
        assertThat(other.isHeld()).isTrue();
        store.advance(TTL);
        assertThat(lock.tryAcquire()).isEmpty();
        other.close();
        assertThat(lock.tryAcquire()).isPresent();
    }

    @Test
    @DisplayName("lets a wait on the test's own thread pass in no time")
    void waitsPass() throws Exception {
        Hold other = store.take("report");
        Optional<Hold> none = store.callWhileTimePasses(() -> lock.tryAcquire(Duration.ofMinutes(10)));
        assertThat(none).isEmpty();
        store.after(Duration.ofMinutes(3), other::close);
        Hold hold = store.callWhileTimePasses(() -> lock.acquire());
        assertThat(hold.isHeld()).isTrue();
        hold.close();
    }

    @Test
    @DisplayName("interrupts who waits for what never comes")
    void endsEndlessWaits() {
        Hold other = store.take("report");
        assertThatThrownBy(() -> store.callWhileTimePasses(() -> lock.acquire()))
                .isInstanceOf(InterruptedException.class)
                .satisfies(t -> assertThat(t.getSuppressed()[0]).hasMessageContaining("still waiting"));
        assertThat(other.isHeld()).isTrue();
        assertThat(Thread.interrupted()).isFalse();
    }

    @Test
    @DisplayName("tells who waits, and wakes a thread whose time is over")
    void tellsWaiters() throws Exception {
        Hold other = store.take("report");
        CompletableFuture<Optional<Hold>> waiter =
                CompletableFuture.supplyAsync(() -> tryFor(Duration.ofMinutes(2)), task -> new Thread(task).start());
        store.awaitWaiting("report", 1);
        store.advance(Duration.ofMinutes(1));
        assertThat(waiter).isNotDone();
        assertThat(store.waiting("report")).isEqualTo(1);
        store.advance(Duration.ofMinutes(2));
        assertThat(result(waiter)).isEmpty();
        store.awaitWaiting("report", 0);
        other.close();
    }

    private Optional<Hold> tryFor(Duration wait) {
        try {
            return lock.tryAcquire(wait);
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    @Test
    @DisplayName("takes a lock away, and tells its listener first")
    void losesLock() throws Exception {
        List<Loss> losses = new ArrayList<>();
        Hold hold = lock.acquire().onLost(losses::add);
        store.loseLock("report");
        assertThat(losses).extracting(Loss::cause).containsExactly(Loss.Cause.REMOVED);
        assertThat(hold.isHeld()).isFalse();
        store.assertFree("report");
        assertThatThrownBy(() -> store.loseLock("report"))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("it is free");
    }

    @Test
    @DisplayName("interrupts work whose lock is lost")
    void interruptsWork() throws Exception {
        CountDownLatch begun = new CountDownLatch(1);
        CompletableFuture<Void> work = CompletableFuture.runAsync(
                () -> {
                    try {
                        lock.runWhileHeld(hold -> {
                            begun.countDown();
                            Thread.sleep(TimeUnit.HOURS.toMillis(1));
                        });
                    } catch (InterruptedException e) {
                        throw new AssertionError(e);
                    }
                },
                task -> new Thread(task).start());
        assertThat(begun.await(LONG, TimeUnit.SECONDS)).isTrue();
        store.loseLock("report");
        assertThat(work)
                .failsWithin(Duration.ofSeconds(LONG))
                .withThrowableThat()
                .withCauseInstanceOf(LockLostException.class);
    }

    @Test
    @DisplayName("that is down refuses at once or when the time-out is over, and serves again when it is up")
    void goesDown() throws Exception {
        store.goDown();
        assertThatThrownBy(() -> store.callWhileTimePasses(lock::tryAcquire))
                .isInstanceOf(StoreUnavailableException.class);
        store.recover();
        Hold hold = lock.acquire();
        store.goDown();
        store.advance(TTL.plusSeconds(1));
        assertThat(hold.isHeld()).isFalse();
        store.recover();
        store.advance(TTL);
        assertThatThrownBy(hold::close).isInstanceOf(LockLostException.class);
        lock.acquire().close();
    }

    @Test
    @DisplayName("that is silent leaves a call unanswered until the time-out, and nothing behind")
    void goesSilent() throws Exception {
        store.goSilent();
        assertThatThrownBy(() -> store.callWhileTimePasses(lock::tryAcquire))
                .isInstanceOf(StoreUnavailableException.class);
        store.recover();
        store.advance(TTL);
        store.assertNothingHeld();
    }

    @Test
    @DisplayName("that loses answers has the program withdraw what it may have got")
    void losesAnswers() throws Exception {
        store.loseAnswers();
        assertThatThrownBy(() -> store.callWhileTimePasses(lock::tryAcquire))
                .isInstanceOf(StoreUnavailableException.class);
        store.recover();
        store.advance(TTL.multipliedBy(2));
        store.assertFree("report");
    }

    @Test
    @DisplayName("that is slow answers when the time has passed")
    void slowsDown() throws Exception {
        store.slowDown(Duration.ofSeconds(2));
        CompletableFuture<Hold> acquisition = lock.acquireAsync().toCompletableFuture();
        store.advance(Duration.ofSeconds(1));
        assertThat(acquisition).isNotDone();
        store.advance(Duration.ofSeconds(1));
        Hold hold = result(acquisition);
        assertThat(hold.isHeld()).isTrue();
        store.runWhileTimePasses(hold::close);
        store.assertNothingHeld();
    }

    @Test
    @DisplayName("that is slow renews what is held as long as its answers come before the end of the lease")
    void slowRenewals() throws Exception {
        Hold hold = lock.acquire();
        store.slowDown(Duration.ofSeconds(5));
        store.advance(TTL.multipliedBy(10));
        assertThat(hold.isHeld()).isTrue();
        store.slowDown(TTL.multipliedBy(2));
        store.advance(TTL.multipliedBy(2));
        assertThat(hold.isHeld()).isFalse();
    }

    @Test
    @DisplayName("tells what is held, by whom")
    void tellsHolders() throws Exception {
        Hold hold = lock.acquire();
        assertThat(store.isHeld("report")).isTrue();
        assertThatThrownBy(() -> store.take("report"))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("'program under test' holds it");
        assertThatThrownBy(store::assertNothingHeld)
                .isInstanceOf(AssertionError.class)
                .hasMessageContaining("report");
        assertThatThrownBy(() -> store.assertFree("report")).isInstanceOf(AssertionError.class);
        hold.close();
        store.assertNothingHeld();
        Hold other = store.take("report");
        store.assertNothingHeld();
        assertThat(store.isHeld("report")).isFalse();
        assertThatThrownBy(() -> store.assertHeld("report"))
                .isInstanceOf(AssertionError.class)
                .hasMessageContaining("'elsewhere' holds it");
        assertThatThrownBy(() -> store.assertFree("report")).isInstanceOf(AssertionError.class);
        other.close();
    }

    @Test
    @DisplayName("keeps a scheduled task for its least time")
    void keepsTasks() {
        TaskOptions options = TaskOptions.atMost(Duration.ofHours(1)).withAtLeast(Duration.ofMinutes(5));
        assertThat(store.client().task("nightly").runIfDue(options, hold -> {}).hasRun())
                .isTrue();
        assertThat(store.elsewhere()
                        .task("nightly")
                        .runIfDue(options, hold -> {})
                        .hasRun())
                .isFalse();
        store.assertHeld("nightly");
        store.advance(Duration.ofMinutes(6));
        assertThat(store.elsewhere()
                        .task("nightly")
                        .runIfDue(options, hold -> {})
                        .hasRun())
                .isTrue();
    }

    @Test
    @DisplayName("has room for a second process of the program")
    void secondClient() throws Exception {
        try (Holdfast second = store.builder().label("second").build()) {
            Hold hold = lock.acquire();
            assertThat(second.lock("report").tryAcquire()).isEmpty();
            hold.close();
            try (Hold next = second.lock("report").acquire(AcquireOptions.defaults())) {
                assertThat(next.isHeld()).isTrue();
            }
        }
    }

    @Test
    @DisplayName("refuses times that go back")
    void refuses() {
        Duration back = Duration.ofSeconds(-1);
        assertThatThrownBy(() -> store.advance(back)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> store.pause(back)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> store.slowDown(back)).isInstanceOf(IllegalArgumentException.class);
    }
}
