package dev.holdfast.verification.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.AcquireOptions;
import dev.holdfast.DistributedLock;
import dev.holdfast.Hold;
import dev.holdfast.LockWaitTimeoutException;
import dev.holdfast.StoreUnavailableException;
import dev.holdfast.spi.Command.Acquire;
import dev.holdfast.spi.StoreException.Effect;
import dev.holdfast.spi.StoreException.Reason;
import dev.holdfast.spi.support.DurationFormat;
import dev.holdfast.verification.world.Actor;
import dev.holdfast.verification.world.Actor.Doing;
import dev.holdfast.verification.world.Eventually;
import dev.holdfast.verification.world.FaultyLink;
import dev.holdfast.verification.world.World;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@DisplayName("A wait shorter than a round trip ends with the answer to the request in flight")
@Tag("C15")
class ShortWaitTest {

    private static final Duration WAIT = Duration.ofMillis(1);
    private static final Duration ROUND_TRIP = Duration.ofMillis(60);

    /** That of a client that sets none. */
    private static final Duration STORE_TIMEOUT = Duration.ofSeconds(10);

    private static final AcquireOptions BRIEFLY = AcquireOptions.defaults().withMaxWait(WAIT);

    @AutoClose
    private final World world = World.still();

    private final FaultyLink link = world.link();
    private final DistributedLock lock = world.client("alice", link).lock("ledger");
    private final Actor bob = world.actor("bob");
    private final Actor carol = world.actor("carol");
    private final Actor dave = world.actor("dave");

    @Test
    @DisplayName("that it is granted: the caller has the lock")
    void granted() throws Exception {
        FaultyLink.HeldUp acquire = link.holdUpNext(Acquire.class);
        Doing<Boolean> trying = bob.startWaiting(() -> lock.tryLock(1, TimeUnit.MILLISECONDS));
        acquire.awaitCommand();

        world.advance(ROUND_TRIP);
        assertThat(trying.isDone()).isFalse();
        acquire.proceed();

        assertThat(trying.result()).isTrue();
        bob.run(lock::unlock);
    }

    @Test
    @DisplayName("that others have it: it was taken, for every form, and nothing is left in the queue")
    void taken() throws Exception {
        Hold theirs = world.client("other").lock("ledger").acquire();
        FaultyLink.HeldUp acquire = link.holdUpNext(Acquire.class);
        Doing<Boolean> locking = bob.startWaiting(() -> lock.tryLock(1, TimeUnit.MILLISECONDS));
        acquire.awaitCommand();
        Doing<Optional<Hold>> trying = carol.startWaiting(() -> lock.tryAcquire(WAIT));
        Doing<Hold> acquiring = dave.startWaiting(() -> lock.acquire(WAIT));
        CompletableFuture<Hold> stage = lock.acquireAsync(BRIEFLY).toCompletableFuture();

        world.advance(ROUND_TRIP);
        assertThat(stage).isNotDone();
        acquire.proceed();

        assertThat(locking.result()).isFalse();
        assertThat(trying.result()).isEmpty();
        assertThatThrownBy(acquiring::result)
                .isInstanceOfSatisfying(
                        LockWaitTimeoutException.class,
                        e -> assertThat(e.waited()).isEqualTo(WAIT));
        assertThatThrownBy(() -> stage.get(60, TimeUnit.SECONDS))
                .isInstanceOf(ExecutionException.class)
                .cause()
                .isInstanceOfSatisfying(
                        LockWaitTimeoutException.class,
                        e -> assertThat(e.waited()).isEqualTo(WAIT));
        Eventually.holds("nobody waits", () -> world.waitersOf("ledger") == 0);
        theirs.close();
    }

    @Test
    @DisplayName("who waits for longer goes on behind one that was answered so")
    void othersGoOn() throws Exception {
        Hold theirs = world.client("other").lock("ledger").acquire();
        FaultyLink.HeldUp acquire = link.holdUpNext(Acquire.class);
        Doing<Boolean> brief = bob.startWaiting(() -> lock.tryLock(1, TimeUnit.MILLISECONDS));
        acquire.awaitCommand();
        Doing<Hold> patient = carol.startWaiting(() -> lock.acquire());
        world.advance(ROUND_TRIP);
        acquire.proceed();
        assertThat(brief.result()).isFalse();

        theirs.close();

        carol.run(patient.result()::close);
    }

    @Test
    @DisplayName("an interrupt ends it at once, and what arrives too late is given back")
    void interrupted() throws Exception {
        FaultyLink.HeldUp acquire = link.holdUpNext(Acquire.class);
        Doing<Boolean> trying = bob.startWaiting(() -> lock.tryLock(1, TimeUnit.MILLISECONDS));
        acquire.awaitCommand();
        world.advance(ROUND_TRIP);

        bob.interrupt();

        assertThatThrownBy(trying::result).isInstanceOf(InterruptedException.class);
        acquire.proceed();
        world.awaitIdle();
        assertThat(world.holderOf("ledger")).isEmpty();
    }

    @Test
    @DisplayName("a healthy store may take all of its time-out to answer, and the lock is granted then")
    void busyStore() throws Exception {
        FaultyLink.HeldUp acquire = link.holdUpNext(Acquire.class);
        Doing<Boolean> trying = bob.startWaiting(() -> lock.tryLock(1, TimeUnit.MILLISECONDS));
        acquire.awaitCommand();
        CompletableFuture<Hold> stage = lock.acquireAsync(BRIEFLY).toCompletableFuture();

        world.advance(Duration.ofSeconds(4));
        assertThat(trying.isDone()).isFalse();
        assertThat(stage).isNotDone();
        acquire.proceed();

        assertThat(trying.result()).isTrue();
        bob.run(lock::unlock);
        assertThatThrownBy(() -> stage.get(60, TimeUnit.SECONDS)).hasCauseInstanceOf(LockWaitTimeoutException.class);
    }

    @Test
    @DisplayName("a message that is lost is sent again, though the wait is over")
    @Tag("C7")
    void lostMessage() throws Exception {
        FaultyLink.HeldUp acquire = link.holdUpNext(Acquire.class);
        Doing<Optional<Hold>> trying = carol.startWaiting(() -> lock.tryAcquire(WAIT));
        acquire.awaitCommand();
        world.advance(ROUND_TRIP);

        acquire.fail(Reason.UNAVAILABLE, Effect.UNKNOWN);

        world.advanceUntil("it is settled", trying::isDone);
        carol.run(trying.result().orElseThrow()::close);
    }

    @Test
    @DisplayName("without an answer it fails when the store time-out is over, and a late grant is given back")
    void silent() throws Exception {
        FaultyLink.HeldUp acquire = link.holdUpNext(Acquire.class);
        Doing<Boolean> trying = bob.startWaiting(() -> lock.tryLock(1, TimeUnit.MILLISECONDS));
        acquire.awaitCommand();
        CompletableFuture<Hold> stage = lock.acquireAsync(BRIEFLY).toCompletableFuture();
        link.cutFor(Acquire.class::isInstance);

        world.advance(STORE_TIMEOUT.minusSeconds(1));
        assertThat(trying.isDone()).isFalse();
        assertThat(stage).isNotDone();
        world.advance(Duration.ofSeconds(2));

        assertThatThrownBy(trying::result)
                .isInstanceOf(StoreUnavailableException.class)
                .hasMessageContaining(DurationFormat.format(STORE_TIMEOUT));
        assertThatThrownBy(() -> stage.get(60, TimeUnit.SECONDS)).hasCauseInstanceOf(StoreUnavailableException.class);
        link.mend();
        acquire.proceed();
        world.advanceUntil("it is given back", () -> world.holderOf("ledger").isEmpty());
    }
}
