package dev.holdfast.verification.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.AcquireOptions;
import dev.holdfast.AcquisitionListener;
import dev.holdfast.DistributedLock;
import dev.holdfast.Hold;
import dev.holdfast.Holdfast;
import dev.holdfast.HoldfastListener;
import dev.holdfast.Loss;
import dev.holdfast.ReleaseOutcome;
import dev.holdfast.verification.world.Actor;
import dev.holdfast.verification.world.Actor.Doing;
import dev.holdfast.verification.world.Eventually;
import dev.holdfast.verification.world.World;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

@DisplayName("Who looks on is told what becomes of each acquisition")
class ListenerTest {

    /** Records all events, and their threads. */
    private static final class Diary implements HoldfastListener {
        final List<String> entries = new CopyOnWriteArrayList<>();

        @Override
        public AcquisitionListener onRequested(AcquireRequest request) {
            String name = request.name();
            note(name + " asked for, as " + request.kind() + " of " + request.weight());
            return new AcquisitionListener() {
                @Override
                public void onGranted(long token, GrantSource source) {
                    note(name + (source == GrantSource.LOCAL_HAND_OVER ? " handed over" : " granted"));
                }

                @Override
                public void onNotGranted(WaitEnd end) {
                    note(name + " not granted: " + end);
                }

                @Override
                public void onReleased(ReleaseOutcome outcome) {
                    note(name + " " + outcome);
                }

                @Override
                public void onLost(Loss loss) {
                    note(name + " lost: " + loss.cause());
                }
            };
        }

        private void note(String what) {
            entries.add(Thread.currentThread().getName() + ": " + what);
        }
    }

    @AutoClose
    private final World world = World.still();

    private final Diary diary = new Diary();
    private final Holdfast client = world.client(world.builder("alice").listener(diary));
    private final DistributedLock lock = client.lock("ledger");
    private final Actor alice = world.actor("alice");
    private final Actor bob = world.actor("bob");

    @Test
    @DisplayName("granted, handed over to another thread, released")
    void handOver() throws Exception {
        Hold first = alice.call(() -> lock.acquire());
        Doing<Hold> second = bob.startWaiting(() -> lock.acquire());
        alice.run(first::close);
        bob.run(second.result()::close);
        assertThat(diary.entries)
                .containsSubsequence(
                        "alice: ledger asked for, as MUTEX of 1",
                        "alice: ledger granted",
                        "bob: ledger asked for, as MUTEX of 1",
                        "bob: ledger handed over",
                        "bob: ledger RELEASED")
                .contains("alice: ledger RELEASED")
                .hasSize(6);
    }

    @Test
    @DisplayName("a try in vain, a wait that timed out, and one that was interrupted")
    void notGranted() throws Exception {
        Hold hold = alice.call(() -> lock.acquire());
        assertThat(bob.call(() -> lock.tryAcquire())).isEmpty();
        Doing<Optional<Hold>> bounded = bob.startWaiting(() -> lock.tryAcquire(Duration.ofSeconds(1)));
        world.advance(Duration.ofSeconds(2));
        assertThat(bounded.result()).isEmpty();
        Doing<Hold> waiting = bob.startWaiting(() -> lock.acquire());
        bob.interrupt();
        assertThatThrownBy(waiting::result).isInstanceOf(InterruptedException.class);
        alice.run(hold::close);
        assertThat(diary.entries)
                .containsSubsequence(
                        "bob: ledger not granted: TAKEN",
                        "bob: ledger not granted: TIMED_OUT",
                        "bob: ledger not granted: CANCELLED")
                .hasSize(9);
    }

    @Test
    @DisplayName("a loss once, and then the release by its owner")
    void loss() throws Exception {
        Hold hold = alice.call(() -> lock.acquire(AcquireOptions.defaults().withFixedLease(Duration.ofSeconds(2))));
        world.advance(Duration.ofSeconds(3));
        assertThat(hold.isHeld()).isFalse();
        assertThat(alice.call(() -> hold.releaseAsync().toCompletableFuture().get()))
                .isEqualTo(ReleaseOutcome.LOST);
        assertThat(diary.entries.stream().map(entry -> entry.substring(entry.indexOf(' ') + 1)))
                .containsExactly(
                        "ledger asked for, as MUTEX of 1", "ledger granted", "ledger lost: LEASE_ENDED", "ledger LOST");
    }

    @Test
    @DisplayName("an asynchronous acquisition that was cancelled, and the grant that came too late is told to nobody")
    void cancelled() throws Exception {
        Hold hold = alice.call(() -> lock.acquire());
        var future = lock.acquireAsync().toCompletableFuture();
        assertThat(future.cancel(false)).isTrue();
        alice.run(hold::close);
        world.awaitIdle();
        assertThat(diary.entries.stream().filter(entry -> entry.contains("CANCELLED")))
                .hasSize(1);
        assertThat(diary.entries.stream().filter(entry -> entry.endsWith("RELEASED")))
                .hasSize(1);
    }

    @Test
    @DisplayName("an asynchronous try in vain, and an asynchronous wait that timed out")
    void asynchronousInVain() throws Exception {
        Hold hold = alice.call(() -> lock.acquire());
        var attempt = lock.acquireAsync(AcquireOptions.defaults().withMaxWait(Duration.ZERO));
        var bounded = lock.acquireAsync(AcquireOptions.defaults().withMaxWait(Duration.ofSeconds(1)));
        world.advance(Duration.ofSeconds(2));
        Eventually.holds(
                "both have ended",
                () -> attempt.toCompletableFuture().isDone()
                        && bounded.toCompletableFuture().isDone());
        alice.run(hold::close);
        assertThat(diary.entries.stream().filter(entry -> entry.endsWith("not granted: TAKEN")))
                .hasSize(1);
        assertThat(diary.entries.stream().filter(entry -> entry.endsWith("not granted: TIMED_OUT")))
                .hasSize(1);
    }

    @Test
    @DisplayName("re-entry is not told")
    void reentry() throws Exception {
        alice.run(() -> {
            lock.lock();
            lock.lock();
            lock.unlock();
            lock.unlock();
        });
        assertThat(diary.entries).hasSize(3);
    }

    @Test
    @DisplayName("how it was requested, and on the owner's thread that it is being released")
    void callsAndReleases() throws Exception {
        List<String> seen = new CopyOnWriteArrayList<>();
        DistributedLock watched = world.client(world.builder("bob").listener(request -> {
                    seen.add(request.call().name());
                    return new AcquisitionListener() {
                        @Override
                        public void onReleasing() {
                            seen.add("released by " + Thread.currentThread().getName());
                        }
                    };
                }))
                .lock("other");
        alice.run(() -> watched.acquire().close());
        alice.run(() -> watched.tryAcquire(Duration.ofSeconds(1)).orElseThrow().close());
        bob.run(() -> watched.tryAcquire().orElseThrow().close());
        bob.run(() -> {
            assertThat(watched.tryLock()).isTrue();
            watched.unlock();
        });
        Hold hold = watched.acquireAsync().toCompletableFuture().get();
        world.advance(Duration.ZERO); // the grant is reported
        alice.run(hold::close);
        assertThat(seen)
                .containsExactly(
                        "BLOCKING",
                        "released by alice",
                        "BLOCKING",
                        "released by alice",
                        "TRY",
                        "released by bob",
                        "TRY",
                        "released by bob",
                        "ASYNC",
                        "released by alice");
    }

    @Test
    @DisplayName("one that fails by an assertion rejects the call of a thread, which other listeners see as failed")
    void rejecting() throws Exception {
        HoldfastListener rejecting = request -> {
            throw new AssertionError("not here");
        };
        Diary other = new Diary();
        DistributedLock watched = world.client(
                        world.builder("bob").listener(other).listener(rejecting))
                .lock("other");
        assertThatThrownBy(() -> bob.call(() -> watched.acquire())).hasMessage("not here");
        assertThat(other.entries)
                .containsExactly("bob: other asked for, as MUTEX of 1", "bob: other not granted: FAILED");
        Hold hold = watched.acquireAsync().toCompletableFuture().get();
        assertThat(hold.isHeld()).isTrue();
        hold.close();
    }

    @Test
    @DisplayName("a listener that fails does no harm, and one that does not care is not asked again")
    void failing() throws Exception {
        HoldfastListener failing = request -> {
            throw new IllegalStateException("a listener's own trouble");
        };
        HoldfastListener careless = request -> null;
        Diary other = new Diary();
        DistributedLock watched = world.client(world.builder("bob")
                        .listener(failing)
                        .listener(careless)
                        .listener(other))
                .lock("other");
        bob.run(() -> watched.acquire().close());
        Eventually.holds("all is told", () -> other.entries.size() == 3);
    }
}
