package dev.holdfast.verification.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.AcquireOptions;
import dev.holdfast.DistributedLock;
import dev.holdfast.Hold;
import dev.holdfast.Holdfast;
import dev.holdfast.LockMismatchException;
import dev.holdfast.LockOptions;
import dev.holdfast.LockWaitTimeoutException;
import dev.holdfast.StoreRefusedException;
import dev.holdfast.StoreUnavailableException;
import dev.holdfast.spi.Command;
import dev.holdfast.spi.StoreException.Effect;
import dev.holdfast.spi.StoreException.Reason;
import dev.holdfast.verification.world.Actor;
import dev.holdfast.verification.world.Eventually;
import dev.holdfast.verification.world.FaultyLink;
import dev.holdfast.verification.world.World;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

@DisplayName("Trying does not wait for others")
class TryingTest {

    private static final AcquireOptions AT_ONCE = AcquireOptions.defaults().withMaxWait(Duration.ZERO);

    @AutoClose
    private final World world = World.live();

    private final FaultyLink link = world.link();
    private final Holdfast holdfast = world.client("alice", link);
    private final DistributedLock lock = holdfast.lock("ledger");

    @Test
    @DisplayName("a free lock is acquired, by every form")
    void free() throws Exception {
        assertThat(lock.tryLock()).isTrue();
        lock.unlock();
        assertThat(lock.tryLock(0, TimeUnit.SECONDS)).isTrue();
        lock.unlock();
        lock.tryAcquire().orElseThrow().close();
        lock.tryAcquire(Duration.ZERO).orElseThrow().close();
        lock.tryAcquire(AT_ONCE).orElseThrow().close();
        lock.acquire(Duration.ZERO).close();
        lock.acquireAsync(AT_ONCE)
                .toCompletableFuture()
                .get(60, TimeUnit.SECONDS)
                .close();
        world.awaitIdle();
    }

    @Test
    @DisplayName(
            "'held by a thread of this process' is a value, or LockWaitTimeoutException from the forms that promise a hold")
    void heldHere() throws Exception {
        Actor bob = world.actor("bob");
        Hold theirs = bob.call(() -> lock.acquire());

        assertTaken();

        bob.run(theirs::close);
    }

    @Test
    @DisplayName("'held by another process' too, and nothing is left in the queue")
    @Tag("C7")
    void heldElsewhere() throws Exception {
        Hold theirs = world.client("bob").lock("ledger").acquire();

        assertTaken();

        assertThat(world.waitersOf("ledger")).isZero();
        theirs.close();
    }

    private void assertTaken() throws InterruptedException {
        assertThat(lock.tryLock()).isFalse();
        assertThat(lock.tryLock(0, TimeUnit.DAYS)).isFalse();
        assertThat(lock.tryAcquire()).isEmpty();
        assertThat(lock.tryAcquire(Duration.ZERO)).isEmpty();
        assertThat(lock.tryAcquire(AT_ONCE)).isEmpty();
        assertThatThrownBy(() -> lock.acquire(Duration.ZERO))
                .isInstanceOf(LockWaitTimeoutException.class)
                .hasMessageContaining("ledger")
                .hasMessageContaining("0 s");
        assertThatThrownBy(() -> lock.acquire(AT_ONCE)).isInstanceOf(LockWaitTimeoutException.class);
        assertThatThrownBy(
                        () -> lock.acquireAsync(AT_ONCE).toCompletableFuture().get(60, TimeUnit.SECONDS))
                .isInstanceOf(ExecutionException.class)
                .hasCauseInstanceOf(LockWaitTimeoutException.class);
    }

    @Test
    @DisplayName("on a fair lock nobody overtakes a thread that waits here; the store is not asked")
    void neverOvertakesLocally() throws Exception {
        Actor bob = world.actor("bob");
        Hold mine = lock.acquire();
        Actor.Doing<Hold> theirs = bob.startWaiting(() -> lock.acquire());
        link.forget();

        assertThat(world.actor("carol").<Boolean>call(lock::tryLock)).isFalse();
        assertThat(link.sent()).isEmpty();

        mine.close();
        assertThat(lock.tryLock()).isFalse();
        bob.run(theirs.result()::close);
    }

    @Test
    @DisplayName("the owner that has just released a fair lock does not overtake either, though its turn is not over")
    void neverOvertakesInItsTurn() throws Exception {
        try (World still = World.still()) {
            DistributedLock turned = still.client("alice").lock("ledger");
            Actor bob = still.actor("bob");
            Actor carol = still.actor("carol");
            for (int i = 0; i < 20; i++) {
                Hold first = turned.acquire();
                Actor.Doing<Boolean> overtaking = bob.startWaiting(() -> {
                    turned.acquire().close();
                    return turned.tryLock();
                });
                Actor.Doing<Hold> waiting = carol.startWaiting(() -> turned.acquire());

                first.close();

                assertThat(overtaking.result()).isFalse();
                carol.run(waiting.result()::close);
            }
        }
    }

    @Test
    @DisplayName("on a fair lock nobody overtakes another process that waits")
    void neverOvertakesElsewhere() throws Exception {
        Hold mine = lock.acquire();
        Actor bob = world.actor("bob");
        DistributedLock theirs = world.client("bob").lock("ledger");
        Actor.Doing<Hold> waiting = bob.startWaiting(() -> theirs.acquire());
        Actor carol = world.actor("carol");
        DistributedLock hers = world.client("carol").lock("ledger");

        mine.close();
        Hold held = waiting.result();

        assertThat(carol.<Boolean>call(hers::tryLock)).isFalse();
        assertThat(lock.tryLock()).isFalse();
        bob.run(held::close);
    }

    @Test
    @DisplayName("a lock that others declare otherwise is an error, not 'taken'")
    void mismatch() throws Exception {
        Hold theirs = world.client("bob").lock("ledger", LockOptions.barging()).acquire();

        assertThatThrownBy(lock::tryLock)
                .isInstanceOf(LockMismatchException.class)
                .hasMessageContaining("ledger")
                .hasMessageContaining("barging");
        assertThatThrownBy(lock::tryAcquire).isInstanceOf(LockMismatchException.class);

        theirs.close();
    }

    @ParameterizedTest
    @EnumSource(Effect.class)
    @DisplayName("a message that is lost is sent again under the same id, by every form; the caller does not notice")
    @Tag("C7")
    void lostMessage(Effect effect) throws Exception {
        List<Callable<Boolean>> forms = List.of(
                lock::tryLock,
                () -> lock.tryLock(0, TimeUnit.SECONDS),
                () -> isGranted(lock.tryAcquire()),
                () -> isGranted(lock.tryAcquire(AT_ONCE)),
                () -> isGranted(Optional.of(lock.acquire(Duration.ZERO))),
                () -> isGranted(Optional.of(
                        lock.acquireAsync(AT_ONCE).toCompletableFuture().get(60, TimeUnit.SECONDS))),
                () -> isGranted(holdfast.semaphore("permits", 2).tryAcquire()),
                () -> isGranted(holdfast.readWriteLock("rows").readLock().tryAcquire()));
        for (Callable<Boolean> form : forms) {
            link.failNext(Command.Acquire.class, Reason.UNAVAILABLE, effect);
            link.forget();

            assertThat(form.call()).isTrue();

            if (lock.isHeldByCurrentThread()) {
                lock.unlock();
            }
            List<Command.Acquire> sent = link.sent(Command.Acquire.class);
            assertThat(sent).hasSize(2);
            assertThat(sent.get(1).claim()).isEqualTo(sent.get(0).claim());
            world.awaitIdle();
        }
    }

    private static boolean isGranted(Optional<? extends Hold> hold) {
        hold.ifPresent(Hold::close);
        return hold.isPresent();
    }

    @Test
    @DisplayName("a try whose first message was lost still learns that others have the lock")
    @Tag("C7")
    void lostMessageOfATakenLock() throws Exception {
        Hold theirs = world.client("bob").lock("ledger").acquire();
        link.failNext(Command.Acquire.class, Reason.UNAVAILABLE, Effect.UNKNOWN);

        assertThat(lock.tryAcquire()).isEmpty();

        assertThat(world.waitersOf("ledger")).isZero();
        theirs.close();
    }

    @Test
    @DisplayName("a store that can't be reached is an error, not 'taken', and what may have been granted is given back")
    @Tag("C7")
    void unavailable() {
        FaultyLink slow = world.link();
        DistributedLock tried = hasty(slow).lock("ledger");
        slow.cut();

        assertThatThrownBy(tried::tryLock).isInstanceOf(StoreUnavailableException.class);

        assertThat(tried.isHeldByCurrentThread()).isFalse();
        slow.mend();
        world.awaitIdle();
    }

    @Test
    @DisplayName("a store that can't be reached for all of its time-out is an error that says why")
    @Tag("C7")
    void unavailableForAReason() {
        FaultyLink slow = world.link();
        DistributedLock tried = hasty(slow).lock("ledger");
        slow.fail(Command.Acquire.class, Reason.UNAVAILABLE, Effect.NONE);

        assertThatThrownBy(tried::tryLock)
                .isInstanceOf(StoreUnavailableException.class)
                .hasMessageContaining("the test says so");

        slow.mend();
        world.awaitIdle();
    }

    /** A client that gives up soon; so soon that on a busy machine it may not even be opened at the first attempt. */
    private Holdfast hasty(FaultyLink slow) {
        AtomicReference<Holdfast> opened = new AtomicReference<>();
        Eventually.holds("a hasty client is opened", () -> {
            try {
                opened.set(world.client(world.builder("bob", slow).storeTimeout(Duration.ofMillis(200))));
                return true;
            } catch (StoreUnavailableException e) {
                return false;
            }
        });
        return opened.get();
    }

    @Test
    @DisplayName(
            "a store that refuses this client is an error of its own, whether or not the command may have had an effect")
    @Tag("C7")
    void refused() {
        for (Effect effect : Effect.values()) {
            link.failNext(Command.Acquire.class, Reason.DENIED, effect);
            assertThatThrownBy(lock::tryLock).isInstanceOf(StoreRefusedException.class);
            link.failNext(Command.Acquire.class, Reason.CORRUPT, effect);
            assertThatThrownBy(lock::tryLock).isInstanceOf(StoreRefusedException.class);
        }
        world.awaitIdle();
    }
}
