package dev.holdfast.verification.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.AcquireOptions;
import dev.holdfast.Hold;
import dev.holdfast.LockLostException;
import dev.holdfast.Loss;
import dev.holdfast.spi.Command;
import dev.holdfast.spi.Command.KeepAlive;
import dev.holdfast.spi.Reply;
import dev.holdfast.spi.Signal;
import dev.holdfast.spi.StoreException.Effect;
import dev.holdfast.spi.StoreException.Reason;
import dev.holdfast.verification.world.Actor;
import dev.holdfast.verification.world.Actor.Doing;
import dev.holdfast.verification.world.FaultyLink;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@DisplayName("A loss is told, never silent")
@Tag("C2")
class LossByClockTest extends LossFixture {

    private static final AcquireOptions DETACHED = AcquireOptions.defaults().withDetachedLease(Duration.ofMinutes(1));

    @Nested
    @DisplayName("when clocks do what they like")
    class Clocks {

        @Test
        @DisplayName("a forward step of the wall clock puts holds in doubt, which a keep-alive sent after it ends")
        @Tag("C10")
        void wallStep() throws InterruptedException {
            Hold hold = acquired();
            link.forget();
            FaultyLink.HeldUp question = link.holdUpNext(KeepAlive.class);

            world.time().stepWall(Duration.ofHours(1));

            assertThat(hold.isHeld()).isFalse();
            assertThat(hold.remaining()).isPositive();
            assertThat(told).isEmpty();
            world.advance(Duration.ofSeconds(10));
            question.proceed();
            assertThat(hold.isHeld()).isTrue();
            hold.ensureHeld();
            assertThat(told).isEmpty();
            hold.close();
        }

        @Test
        @DisplayName("a step that nobody has noticed before a regular keep-alive is over with it")
        void stepBeforeAKeepAlive() throws InterruptedException {
            Hold hold = acquired();
            world.time().stepWall(Duration.ofHours(1));

            world.advance(Duration.ofSeconds(10));

            assertThat(link.sent(KeepAlive.class)).hasSize(1);
            assertThat(hold.isHeld()).isTrue();
            hold.close();
        }

        @Test
        @DisplayName("a keep-alive that was sent before the step does not end the doubt")
        void keepAliveFromBefore() throws InterruptedException {
            Hold hold = acquired();
            FaultyLink.HeldUp before = link.holdUpNext(KeepAlive.class);
            world.advance(Duration.ofSeconds(10));
            before.awaitCommand();

            world.time().stepWall(Duration.ofHours(1));
            before.proceed();
            assertThat(hold.isHeld()).isFalse();

            hold.ensureHeld();
            assertThat(hold.isHeld()).isTrue();
            hold.close();
        }

        @Test
        @DisplayName("ensureHeld() waits for the end of the doubt; an interrupt ends that wait, and the hold stays")
        @Tag("C15")
        void ensureHeldWaits() throws Exception {
            Actor bob = world.actor("bob");
            Hold hold = bob.call(() -> lock.acquire());
            FaultyLink.HeldUp question = link.holdUpNext(KeepAlive.class);
            world.time().stepWall(Duration.ofHours(1));
            Doing<Boolean> ensuring = bob.start(() -> {
                assertThatThrownBy(hold::ensureHeld).isInstanceOf(LockLostException.class);
                return Thread.interrupted();
            });
            question.awaitCommand();
            bob.interrupt();
            assertThat(ensuring.result()).isTrue();

            Doing<Boolean> again = bob.start(() -> {
                hold.ensureHeld();
                return hold.isHeld();
            });
            question.proceed();

            assertThat(again.result()).isTrue();
            bob.run(hold::close);
        }

        @Test
        @DisplayName("ensureHeld() that waits for the end of the doubt fails when another thread closes the hold")
        void closedInDoubt() throws Exception {
            Actor bob = world.actor("bob");
            Hold hold = lock.acquireAsync().toCompletableFuture().join();
            FaultyLink.HeldUp question = link.holdUpNext(KeepAlive.class);
            world.time().stepWall(Duration.ofHours(1));
            Doing<Boolean> ensuring = bob.start(() -> {
                hold.ensureHeld();
                return true;
            });
            question.awaitCommand();

            hold.close();

            assertThatThrownBy(ensuring::result)
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("was released");
            question.proceed();
        }

        @Test
        @DisplayName("a try for a free lock waits for the end of the doubt: nobody else has it")
        @Tag("C15")
        void tryInDoubt() throws Exception {
            Actor bob = world.actor("bob");
            Hold hold = acquired();
            FaultyLink.HeldUp question = link.holdUpNext(KeepAlive.class);
            world.time().stepWall(Duration.ofHours(1));
            Doing<Boolean> trying = bob.start(() -> holdfast.lock("free").tryLock());

            question.awaitCommand();
            question.proceed();

            assertThat(trying.result()).isTrue();
            hold.close();
        }

        @Test
        @DisplayName("a re-entrant lock() in doubt survives an interrupt, as any lock() does")
        void reentryInDoubt() throws Exception {
            Actor bob = world.actor("bob");
            Hold hold = bob.call(() -> lock.acquire());
            FaultyLink.HeldUp question = link.holdUpNext(KeepAlive.class);
            world.time().stepWall(Duration.ofHours(1));
            Doing<Boolean> locking = bob.start(() -> {
                Thread.currentThread().interrupt();
                lock.lock();
                lock.unlock();
                return Thread.interrupted();
            });
            question.awaitCommand();
            question.proceed();

            assertThat(locking.result()).isTrue();
            bob.run(hold::close);
        }

        @Test
        @DisplayName(
                "an interrupt while a re-entrant acquisition is in doubt is an InterruptedException, and the hold stays")
        void interruptedReentryInDoubt() throws Exception {
            Actor bob = world.actor("bob");
            Hold hold = bob.call(() -> lock.acquire());
            FaultyLink.HeldUp question = link.holdUpNext(KeepAlive.class);
            world.time().stepWall(Duration.ofHours(1));
            Doing<Hold> acquiring = bob.start(() -> lock.acquire());
            question.awaitCommand();
            bob.interrupt();

            assertThatThrownBy(acquiring::result).isInstanceOf(InterruptedException.class);
            question.proceed();
            assertThat(bob.<Integer>call(lock::holdCount)).isEqualTo(1);
            bob.run(hold::ensureHeld);
            bob.run(hold::close);
        }

        @Test
        @DisplayName("nothing is handed on in doubt; the hand-over goes on when it is over")
        @Tag("C8")
        void noHandOverInDoubt() throws Exception {
            Actor bob = world.actor("bob");
            Hold hold = acquired();
            Doing<Hold> waiting = bob.startWaiting(() -> lock.acquire());
            FaultyLink.HeldUp question = link.holdUpNext(KeepAlive.class);
            world.time().stepWall(Duration.ofHours(1));

            hold.close();
            question.awaitCommand();
            assertThat(waiting.isDone()).isFalse();

            question.proceed();
            bob.run(waiting.result()::close);
        }

        @Test
        @DisplayName("a doubt that nobody can clear ends as a loss, at the deadline")
        @Tag("C15")
        void doubtEndsAsLoss() throws Exception {
            Hold hold = acquired();
            link.cut();
            world.time().stepWall(Duration.ofHours(1));
            world.advance(DEADLINE);

            assertThat(told).containsExactly(Loss.Cause.EXPIRED);
            assertThatThrownBy(hold::ensureHeld).isInstanceOf(LockLostException.class);
            link.mend();
            assertThatThrownBy(hold::close).isInstanceOf(LockLostException.class);
        }

        @Test
        @DisplayName("the doubt about a lease of its own is ended by a poll of that very claim")
        void doubtOfOwnLease() throws InterruptedException {
            Hold hold = lock.acquire(AcquireOptions.defaults().withFixedLease(Duration.ofMinutes(1)));
            world.time().stepWall(Duration.ofHours(1));
            assertThat(hold.isHeld()).isFalse();
            link.forget();

            hold.ensureHeld();

            assertThat(hold.isHeld()).isTrue();
            assertThat(link.sent(Command.Poll.class)).isNotEmpty();
            assertThat(link.sent(KeepAlive.class)).isNotEmpty();
            hold.close();
        }

        @Test
        @DisplayName("the doubt about a detached lease lasts until its claim is polled, though the session is renewed")
        void doubtOfDetachedLease() throws Exception {
            Actor bob = world.actor("bob");
            Hold hold = bob.call(() -> lock.acquire(DETACHED));
            FaultyLink.HeldUp question = link.holdUpNext(Command.Poll.class);
            world.time().stepWall(Duration.ofHours(1));
            Doing<Boolean> ensuring = bob.start(() -> {
                hold.ensureHeld();
                return true;
            });
            question.awaitCommand();
            assertThat(link.sent(KeepAlive.class)).isNotEmpty();
            assertThat(hold.isHeld()).isFalse();

            question.proceed();

            assertThat(ensuring.result()).isTrue();
            assertThat(hold.isHeld()).isTrue();
            bob.run(hold::close);
        }

        @Test
        @DisplayName("the question that ends the doubt about a detached lease is asked again if it was not answered")
        void questionAboutDetachedLeaseFails() throws Exception {
            Actor bob = world.actor("bob");
            Hold hold = bob.call(() -> lock.acquire(DETACHED));
            FaultyLink.HeldUp question = link.holdUpNext(Command.Poll.class);
            world.time().stepWall(Duration.ofHours(1));
            Doing<Boolean> ensuring = bob.start(() -> {
                hold.ensureHeld();
                return true;
            });
            question.awaitCommand();

            question.fail(Reason.UNAVAILABLE, Effect.UNKNOWN);

            // With the answer to the next keep-alive; sooner than the regular poll, which follows once per ttl.
            world.advance(Duration.ofSeconds(12));
            assertThat(ensuring.result()).isTrue();
            assertThat(link.sent(Command.Poll.class)).hasSize(2);
            bob.run(hold::close);
        }

        @Test
        @DisplayName("the end of a fixed lease that passed while the machine slept is reported soon after it has woken")
        @Tag("C1")
        void fixedLeaseEndedAsleep() throws InterruptedException {
            Hold hold = lock.acquire(AcquireOptions.defaults().withFixedLease(Duration.ofSeconds(10)));
            hold.onLost(loss -> told.add(loss.cause()));
            world.time().suspend(Duration.ofSeconds(15));

            world.advance(Duration.ofSeconds(4));

            assertThat(told).containsExactly(Loss.Cause.LEASE_ENDED);
            assertThatThrownBy(hold::close).isInstanceOf(LockLostException.class);
        }

        @Test
        @DisplayName("a poll that is answered after the deadline of a fixed lease does not bring the hold back")
        @Tag("C3")
        void lateConfirmation() throws Exception {
            FaultyLink.HeldUp slow = link.holdUpNext(Command.Acquire.class);
            CompletableFuture<Hold> acquiring = lock.acquireAsync(
                            AcquireOptions.defaults().withFixedLease(Duration.ofSeconds(10)))
                    .toCompletableFuture();
            slow.awaitCommand();
            world.advance(Duration.ofMillis(400));
            slow.proceed();
            Hold hold = acquiring.join();
            // Its deadline was counted from before its request. That of a faster poll would be later.
            assertThat(hold.remaining()).isEqualTo(Duration.ofMillis(8_600));
            world.advance(Duration.ofSeconds(8));
            FaultyLink.HeldUp poll = link.holdUpNext(Command.Poll.class);
            link.signal(new Signal.Revoked(claimOfHolder()));
            Reply state = poll.deliver();
            world.time().suspend(Duration.ofMillis(700));

            poll.answer(state);

            assertThat(hold.isHeld()).isFalse();
            assertThatThrownBy(hold::close)
                    .isInstanceOfSatisfying(
                            LockLostException.class,
                            e -> assertThat(e.loss().cause()).isEqualTo(Loss.Cause.LEASE_ENDED));
        }

        @Test
        @DisplayName("a step back, or a small step forward, changes nothing")
        @Tag("C10")
        void harmlessSteps() throws InterruptedException {
            Hold hold = acquired();
            world.time().stepWall(Duration.ofHours(-1));
            assertThat(hold.isHeld()).isTrue();
            world.time().stepWall(Duration.ofMillis(900));
            assertThat(hold.isHeld()).isTrue();
            hold.close();
        }

        @Test
        @DisplayName("time that the machine slept counts: a hold is lost on waking when its lease ran out meanwhile")
        @Tag("C1")
        void suspended() throws Exception {
            Hold hold = acquired();
            Actor bob = world.actor("bob");
            bob.startWaiting(() -> lock.tryLock(1, java.util.concurrent.TimeUnit.HOURS));
            world.time().suspend(Duration.ofSeconds(31));

            assertThat(hold.isHeld()).isFalse();
            world.time().settle();
            assertThat(told).containsExactly(Loss.Cause.EXPIRED);
            assertThatThrownBy(hold::close).isInstanceOf(LockLostException.class);
            bob.interrupt();
            bob.call(Thread::interrupted);
        }

        @Test
        @DisplayName(
                "after a short sleep the session is renewed before its deadline, though its timer is late by the sleep")
        @Tag("C14")
        void renewedAfterASleep() throws InterruptedException {
            Hold hold = acquired();
            world.time().suspend(Duration.ofSeconds(20));

            world.advance(Duration.ofSeconds(5));

            assertThat(hold.remaining()).isGreaterThan(Duration.ofSeconds(20));
            world.advance(Duration.ofMinutes(1));
            assertThat(told).isEmpty();
            hold.close();
        }

        @Test
        @DisplayName("a short sleep costs its own time only")
        @Tag("C14")
        void sleptShortly() throws InterruptedException {
            Hold hold = acquired();
            world.time().suspend(Duration.ofSeconds(20));

            assertThat(hold.isHeld()).isTrue();
            assertThat(hold.remaining()).isEqualTo(Duration.ofSeconds(7));
            hold.close();
        }
    }
}
