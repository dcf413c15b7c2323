package dev.holdfast.verification.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.AcquireOptions;
import dev.holdfast.DistributedLock;
import dev.holdfast.DistributedReadWriteLock;
import dev.holdfast.DistributedSemaphore;
import dev.holdfast.Hold;
import dev.holdfast.Holdfast;
import dev.holdfast.LockOptions;
import dev.holdfast.LockWaitTimeoutException;
import dev.holdfast.Permits;
import dev.holdfast.spi.Command;
import dev.holdfast.spi.Reply;
import dev.holdfast.spi.Signal;
import dev.holdfast.spi.StoreException.Effect;
import dev.holdfast.spi.StoreException.Reason;
import dev.holdfast.verification.world.Actor;
import dev.holdfast.verification.world.Actor.Doing;
import dev.holdfast.verification.world.FaultyLink;
import dev.holdfast.verification.world.HolderThread;
import dev.holdfast.verification.world.World;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;

/** Rules of the local tier that no other test of a client needs. */
@DisplayName("In one process")
class LocalTierTest {

    private static final Duration BUDGET = Duration.ofMillis(10);
    private static final AcquireOptions BOUNDED = AcquireOptions.defaults().withMaxHold(Duration.ofMinutes(5));

    @AutoClose
    private final World world = World.still();

    private final FaultyLink link = world.link();
    private final Holdfast alice = world.client("alice", link);
    private final Holdfast bob = world.client("bob");

    @Nested
    @DisplayName("a semaphore with several grants")
    class SeveralGrants {

        private final DistributedSemaphore here = alice.semaphore("bus", 2);
        private final DistributedSemaphore there = bob.semaphore("bus", 2);

        @Test
        @DisplayName("hands over the grant that was released, whichever it is")
        void anyGrantIsHandedOver() throws Exception {
            Permits first = here.acquire(1);
            Permits second = here.acquire(1);
            HolderThread<Permits> waiter = HolderThread.waiting(world, "waiter", () -> here.acquire(1));

            second.close();

            assertThat(waiter.awaitGrant().isHeld()).isTrue();
            HolderThread<Permits> next = HolderThread.waiting(world, "next", () -> here.acquire(1));
            first.close();
            assertThat(next.awaitGrant().isHeld()).isTrue();
            waiter.release();
            next.release();
        }

        @Test
        @DisplayName("uses a grant whose tokens come late, though another grant was made meanwhile")
        void lateTokens() throws Exception {
            Permits own = here.acquire(1);
            Permits theirs = there.acquire(1);
            HolderThread<Permits> first = HolderThread.waiting(world, "first", () -> here.acquire(1));
            HolderThread<Permits> second = HolderThread.waiting(world, "second", () -> here.acquire(1));
            FaultyLink.HeldUp advance = link.holdUpNext(Command.Advance.class);
            own.close();
            advance.awaitCommand();
            theirs.close();
            assertThat(first.awaitGrant().isHeld()).isTrue();
            assertThat(second.isWaiting()).isTrue();

            advance.proceed();

            assertThat(second.awaitGrant().isHeld()).isTrue();
            first.release();
            second.release();
        }

        @Test
        @DisplayName("counts the end of its own grant as an answer: a longer wait is for others, not for the store")
        void endOfAnOwnGrantIsAnAnswer() throws Exception {
            Permits both = here.acquire(2);
            FaultyLink.HeldUp acquire = link.holdUpNext(Command.Acquire.class);
            HolderThread<Permits> first = HolderThread.waiting(world, "first", () -> here.acquire(1));
            Actor actor = world.actor("second");
            Doing<Permits> waiting = actor.startWaiting(
                    () -> here.acquire(1, AcquireOptions.defaults().withMaxWait(Duration.ofSeconds(1))));
            acquire.awaitCommand();

            both.close();
            world.advance(Duration.ofMillis(1_100));

            assertThatThrownBy(waiting::result).isInstanceOf(LockWaitTimeoutException.class);
            acquire.proceed();
            first.release();
        }
    }

    @Test
    @DisplayName("a grant that the store cannot have given beside a newer one is lost")
    void excludedGrantIsLost() throws Exception {
        DistributedReadWriteLock lock = alice.readWriteLock("catalogue");
        Hold reading =
                lock.readLock().acquireAsync(BOUNDED).toCompletableFuture().join();
        // The store forgets the grant without a signal, as a server may that was promoted.
        Reply released = world.ask(
                new Command.Release(link.sent(Command.Acquire.class).get(0).claim()));
        assertThat(released).isInstanceOf(Reply.Released.class);

        Hold writing = lock.writeLock().acquire();

        assertThat(reading.isHeld()).isFalse();
        assertThat(writing.isHeld()).isTrue();
        writing.close();
    }

    @Nested
    @DisplayName("a claim")
    class Claims {

        private final DistributedLock lock = alice.lock("ledger");
        private final Actor waiter = world.actor("waiter");

        @Test
        @DisplayName("of a session that has ended is withdrawn once the session is retired, not before")
        void withdrawnAfterRetirement() throws Exception {
            Hold theirs = bob.lock("ledger").acquire();
            FaultyLink briefLink = world.link();
            // Its session ends before its waits do.
            Holdfast brief = world.client(world.builder("brief", briefLink).sessionTtl(Duration.ofSeconds(6)));
            Doing<Hold> waiting = waiter.startWaiting(() -> brief.lock("ledger").acquire());
            briefLink.fail(Command.KeepAlive.class, Reason.UNAVAILABLE, Effect.NONE);
            FaultyLink.HeldUp retire = briefLink.holdUpNext(Command.Retire.class);
            world.advanceUntil(
                    "the session has ended",
                    () -> !briefLink.sent(Command.Retire.class).isEmpty());
            briefLink.mend();
            world.advance(Duration.ofMillis(100));
            assertThat(briefLink.sent(Command.Withdraw.class)).isEmpty();

            retire.proceed();

            world.advanceUntil(
                    "it is withdrawn",
                    () -> !briefLink.sent(Command.Withdraw.class).isEmpty());
            theirs.close();
            waiter.run(waiting.result()::close);
        }

        @Test
        @DisplayName("that nobody wants while its outcome is unknown is no surprise to an audit")
        void unknownOutcomeIsNoGhost() throws Exception {
            Hold other = alice.lock("other").acquire();
            link.loseReplyToNext(Command.Acquire.class);
            Doing<Hold> waiting = waiter.startWaiting(() -> lock.acquire());
            waiter.interrupt();
            assertThatThrownBy(waiting::result).isInstanceOf(InterruptedException.class);
            assertThat(world.holderOf("ledger")).contains("alice");
            link.forget();

            link.signal(new Signal.FailedOver());
            world.time().settle();

            // A withdrawal now could arrive before the claim.
            assertThat(link.sent(Command.Audit.class)).isNotEmpty();
            assertThat(link.sent(Command.Withdraw.class)).isEmpty();
            world.advanceUntil(
                    "it is withdrawn after a raise",
                    () -> world.holderOf("ledger").isEmpty());
            other.close();
        }

        @Test
        @DisplayName("that replaces a grant keeps its place for the next request, though the first gives up")
        void replacingClaimIsKept() throws Exception {
            FaultyLink strictLink = world.link();
            DistributedLock strict = world.client(
                            world.builder("strict", strictLink).cohortBudget(Duration.ZERO))
                    .lock("ledger");
            Hold first = strict.acquire();
            Actor actor = world.actor("theirs");
            Doing<Hold> theirs = actor.startWaiting(() -> bob.lock("ledger").acquire());
            Doing<Hold> givesUp = waiter.startWaiting(() -> strict.acquire());
            FaultyLink.HeldUp yield = strictLink.holdUpNext(Command.Yield.class);
            first.close();
            yield.awaitCommand();
            strictLink.forget();

            waiter.interrupt();
            assertThatThrownBy(givesUp::result).isInstanceOf(InterruptedException.class);
            HolderThread<Hold> next = HolderThread.waiting(world, "next", () -> strict.acquire());
            yield.proceed();

            actor.run(theirs.result()::close);
            assertThat(next.awaitGrant().isHeld()).isTrue();
            assertThat(strictLink.sent(Command.Acquire.class)).isEmpty();
            assertThat(strictLink.sent(Command.Withdraw.class)).isEmpty();
            next.release();
        }
    }

    @Test
    @DisplayName("the question whether others wait is repeated after it failed")
    void questionIsRepeated() throws Exception {
        DistributedLock lock = alice.lock("ledger");
        Hold hold = lock.acquireAsync().toCompletableFuture().join();
        hold = handOver(lock, hold);
        world.advance(BUDGET);
        link.forget();
        link.failNext(Command.Poll.class, Reason.UNAVAILABLE, Effect.NONE);
        hold = handOver(lock, hold);
        assertThat(link.sent(Command.Poll.class)).hasSize(1);
        world.advance(Duration.ofSeconds(1));

        hold = handOver(lock, hold);

        assertThat(link.sent(Command.Poll.class)).hasSize(2);
        hold.close();
    }

    @Test
    @DisplayName("the question before a strict hand-over is repeated soon after it failed")
    void strictQuestionIsRepeated() {
        FaultyLink strictLink = world.link();
        DistributedLock lock = world.client(world.builder("strict", strictLink).cohortBudget(Duration.ZERO))
                .lock("ledger");
        Hold hold = lock.acquireAsync().toCompletableFuture().join();
        CompletableFuture<Hold> next = lock.acquireAsync().toCompletableFuture();
        world.advance(Duration.ofMillis(1));
        strictLink.forget();
        strictLink.failNext(Command.Poll.class, Reason.UNAVAILABLE, Effect.NONE);
        hold.close();
        world.time().settle();
        assertThat(strictLink.sent(Command.Poll.class)).hasSize(1);
        assertThat(next).isNotDone();

        world.advance(Duration.ofMillis(13));

        assertThat(next).isCompleted();
        assertThat(strictLink.sent(Command.Poll.class)).hasSize(2);
        next.join().close();
    }

    @Test
    @DisplayName("the request for more tokens is repeated soon after it failed")
    void advanceIsRepeated() {
        DistributedLock lock = alice.lock("ledger");
        Hold hold = lock.acquireAsync().toCompletableFuture().join();
        CompletableFuture<Hold> next = lock.acquireAsync().toCompletableFuture();
        link.failNext(Command.Advance.class, Reason.UNAVAILABLE, Effect.NONE);
        hold.close();
        world.time().settle();
        assertThat(link.sent(Command.Advance.class)).hasSize(1);
        assertThat(next).isNotDone();

        world.advance(Duration.ofMillis(13));

        assertThat(next).isCompleted();
        next.join().close();
    }

    @Test
    @DisplayName("a request for more tokens that finds the grant removed makes the next thread claim the lock again")
    void advanceFindsNothing() {
        DistributedLock lock = alice.lock("ledger");
        Hold hold = lock.acquireAsync().toCompletableFuture().join();
        CompletableFuture<Hold> next = lock.acquireAsync().toCompletableFuture();
        FaultyLink.HeldUp advance = link.holdUpNext(Command.Advance.class);
        hold.close();
        advance.awaitCommand();
        link.loseSignals();
        world.releaseByForce("ledger");
        assertThat(next).isNotDone();

        advance.proceed();

        world.time().settle();
        assertThat(next).isCompleted();
        assertThat(next.join().isHeld()).isTrue();
        next.join().close();
    }

    /** Hands the lock over to a stage that waits. */
    private Hold handOver(DistributedLock lock, Hold hold) {
        CompletableFuture<Hold> next = lock.acquireAsync().toCompletableFuture();
        CompletableFuture<Hold> afterIt = lock.acquireAsync().toCompletableFuture();
        hold.close();
        world.time().settle();
        Hold granted = next.join();
        afterIt.cancel(false);
        return granted;
    }

    @Test
    @DisplayName("readers have a turn from the moment at which a writer begins to wait, however long they have read")
    void turnBeginsWithTheWriter() throws Exception {
        DistributedReadWriteLock lock = alice.readWriteLock("catalogue");
        HolderThread<Hold> first =
                HolderThread.holding(world, "first", () -> lock.readLock().acquire());
        world.advance(Duration.ofMillis(50));
        HolderThread<Hold> writer =
                HolderThread.waiting(world, "writer", () -> lock.writeLock().acquire());

        HolderThread<Hold> second =
                HolderThread.holding(world, "second", () -> lock.readLock().acquire());

        assertThat(writer.isWaiting()).isTrue();
        first.release();
        second.release();
        writer.release();
    }

    @Test
    @DisplayName("those who barged ask again under the next session")
    void newcomersOfTheNextSession() throws Exception {
        DistributedSemaphore here = alice.semaphore("bus", 10, LockOptions.barging());
        Permits theirs = bob.semaphore("bus", 10, LockOptions.barging()).acquire(8);
        HolderThread<Permits> large = HolderThread.waiting(world, "large", () -> here.acquire(9));
        HolderThread<Permits> small = HolderThread.waiting(world, "small", () -> here.acquire(5));
        assertThat(link.sent(Command.Acquire.class)).hasSize(2);
        Command.Acquire ofTheOldSession = link.sent(Command.Acquire.class).get(0);
        link.forget();

        world.ask(new Command.CloseSession(ofTheOldSession.claim().session()));
        world.advanceUntil(
                "there is another session",
                () -> !link.sent(Command.OpenSession.class).isEmpty());
        world.time().settle();

        assertThat(link.sent(Command.Acquire.class))
                .extracting(Command.Acquire::weight)
                .containsExactly(9, 5);
        theirs.close();
        large.release();
        small.release();
    }
}
