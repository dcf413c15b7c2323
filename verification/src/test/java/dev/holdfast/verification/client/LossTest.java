package dev.holdfast.verification.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import dev.holdfast.AcquisitionListener;
import dev.holdfast.DistributedLock;
import dev.holdfast.Hold;
import dev.holdfast.Holdfast;
import dev.holdfast.LockLostException;
import dev.holdfast.Loss;
import dev.holdfast.spi.Command;
import dev.holdfast.spi.Command.KeepAlive;
import dev.holdfast.spi.Reply;
import dev.holdfast.spi.SessionId;
import dev.holdfast.spi.Signal;
import dev.holdfast.spi.StoreException.Effect;
import dev.holdfast.spi.StoreException.Reason;
import dev.holdfast.verification.world.Actor;
import dev.holdfast.verification.world.Actor.Doing;
import dev.holdfast.verification.world.FaultyLink;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

@DisplayName("A loss is told, never silent")
@Tag("C2")
class LossTest extends LossFixture {

    static List<Reply> answersThatRenewNothing() {
        return List.of(new Reply.Stale(), new Reply.Done());
    }

    @Nested
    @DisplayName("when no keep-alive is acknowledged")
    class Expiry {

        @Test
        @DisplayName(
                "before the store gives the lock away: a margin before the ttl is over, counted from before the last request")
        @Tag("C1")
        void beforeTheStoreGivesItAway() throws Exception {
            Hold hold = acquired();
            link.cut();
            Actor bob = world.actor("bob");
            DistributedLock theirs = world.client("bob").lock("ledger");
            Doing<Hold> waiting = bob.startWaiting(() -> theirs.acquire());

            world.advance(DEADLINE.minusNanos(1));
            assertThat(hold.isHeld()).isTrue();
            assertThat(told).isEmpty();
            world.advance(Duration.ofNanos(1));
            assertThat(hold.isHeld()).isFalse();
            assertThat(told).containsExactly(Loss.Cause.EXPIRED);
            assertThat(waiting.isDone()).isFalse();

            world.advance(TTL.minus(DEADLINE));
            Hold next = waiting.result();
            assertThat(next.isHeld()).isTrue();
            assertThatThrownBy(hold::fencingToken).isInstanceOf(LockLostException.class);
            link.mend();
            assertThatThrownBy(hold::close).isInstanceOf(LockLostException.class);
            assertThat(next.isHeld()).isTrue();
            bob.run(next::close);
            assertThat(told).hasSize(1);
        }

        @Test
        @DisplayName(
                "and the token is withheld from the moment that the hold is not held, also before the loss is told")
        @Tag("C4")
        void noTokenWithoutAHold() throws InterruptedException {
            Hold hold = acquired();
            List<Object> seen = new CopyOnWriteArrayList<>();
            link.fail(KeepAlive.class, Reason.UNAVAILABLE, Effect.NONE);
            // Sent by the thread that detected the missed deadline, before it reports it.
            link.runBeforeNext(Command.Retire.class, () -> {
                seen.addAll(told);
                seen.add(hold.isHeld());
                seen.add(catchThrowable(hold::fencingToken));
            });

            world.advance(DEADLINE);

            assertThat(seen).hasSize(2).contains(false).hasAtLeastOneElementOfType(LockLostException.class);
            assertThat(told).containsExactly(Loss.Cause.EXPIRED);
            link.mend();
            assertThatThrownBy(hold::close).isInstanceOf(LockLostException.class);
        }

        @Test
        @DisplayName("one lost keep-alive costs nothing: it is repeated in time")
        @Tag("C14")
        void oneLostKeepAlive() throws InterruptedException {
            Hold hold = acquired();
            for (int i = 0; i < 10; i++) {
                link.loseNext(KeepAlive.class);
                world.advance(Duration.ofSeconds(10));
                assertThat(hold.isHeld()).isTrue();
            }
            link.failNext(KeepAlive.class, Reason.UNAVAILABLE, Effect.NONE);
            world.advance(Duration.ofMinutes(1));
            assertThat(hold.isHeld()).isTrue();
            assertThat(told).isEmpty();
            hold.close();
        }

        @ParameterizedTest
        @MethodSource("dev.holdfast.verification.client.LossTest#answersThatRenewNothing")
        @DisplayName("one that was overtaken or was answered with nonsense is repeated soon, without a loss")
        @Tag("C14")
        void answersThatRenewNothing(Reply answer) throws InterruptedException {
            Hold hold = acquired();
            link.answerNext(KeepAlive.class, answer);
            world.advance(Duration.ofSeconds(12));

            assertThat(link.sent(KeepAlive.class)).hasSize(2);
            assertThat(hold.remaining()).isGreaterThan(Duration.ofSeconds(24));
            assertThat(told).isEmpty();
            hold.close();
        }

        @Test
        @DisplayName(
                "an acknowledgement that comes after a deadline that nobody had noticed ends the session as expired")
        @Tag("C3")
        void lateAcknowledgementUnnoticed() throws InterruptedException {
            Hold hold = acquired();
            FaultyLink.HeldUp late = link.holdUpNext(KeepAlive.class);
            world.advance(Duration.ofSeconds(10));
            late.deliver();
            world.time().suspend(DEADLINE.minusSeconds(10));

            late.proceed();
            world.time().settle();

            assertThat(told).containsExactly(Loss.Cause.EXPIRED);
            assertThatThrownBy(hold::close).isInstanceOf(LockLostException.class);
        }

        @Test
        @DisplayName("an acknowledgement that comes after the deadline does not bring the hold back")
        @Tag("C3")
        void lateAcknowledgement() throws InterruptedException {
            Hold hold = acquired();
            FaultyLink.HeldUp late = link.holdUpNext(KeepAlive.class);
            link.fail(KeepAlive.class, Reason.UNAVAILABLE, Effect.UNKNOWN);
            world.advance(Duration.ofSeconds(10));
            late.deliver();
            world.advance(Duration.ofSeconds(17));
            assertThat(told).containsExactly(Loss.Cause.EXPIRED);

            link.mend();
            late.proceed();
            world.advance(Duration.ofSeconds(1));

            assertThat(hold.isHeld()).isFalse();
            assertThat(hold.remaining()).isZero();
            assertThatThrownBy(hold::close).isInstanceOf(LockLostException.class);
        }

        @Test
        @DisplayName(
                "a lost hold does not block the process for longer than the lease: the next is granted under a new session")
        @Tag("C3")
        void nextSession() throws Exception {
            Hold hold = acquired();
            link.fail(KeepAlive.class, Reason.UNAVAILABLE, Effect.NONE);
            world.advance(DEADLINE);
            link.mend();
            Actor bob = world.actor("bob");

            Doing<Hold> waiting = bob.startWaiting(() -> lock.acquire());
            world.advance(TTL.minus(DEADLINE));

            Hold next = waiting.result();
            assertThat(next.isHeld()).isTrue();
            assertThatThrownBy(hold::close).isInstanceOf(LockLostException.class);
            assertThat(next.isHeld()).isTrue();
            bob.run(next::close);
        }

        @Test
        @DisplayName("closing the lost hold frees the lock at once for a waiting thread")
        void closingFreesAtOnce() throws Exception {
            Hold hold = acquired();
            link.fail(KeepAlive.class, Reason.UNAVAILABLE, Effect.NONE);
            world.advance(DEADLINE);
            link.mend();
            Actor bob = world.actor("bob");
            Doing<Hold> waiting = bob.startWaiting(() -> lock.acquire());

            assertThatThrownBy(hold::close).isInstanceOf(LockLostException.class);

            bob.run(waiting.result()::close);
        }

        @Test
        @DisplayName("a release after the deadline that nobody had noticed tells the loss")
        void releaseAfterTheDeadline() throws InterruptedException {
            Hold hold = acquired();
            link.cut();
            world.time().suspend(TTL);
            link.mend();

            assertThatThrownBy(hold::close)
                    .isInstanceOfSatisfying(
                            LockLostException.class,
                            e -> assertThat(e.loss().cause()).isEqualTo(Loss.Cause.EXPIRED));
        }
    }

    @Nested
    @DisplayName("when the store ends it")
    class AtTheStore {

        @Test
        @DisplayName("by a release by force, which is pushed")
        void releaseByForce() throws InterruptedException {
            Hold hold = acquired();
            world.releaseByForce("ledger");
            world.time().settle();

            assertThat(hold.isHeld()).isFalse();
            assertThat(told).containsExactly(Loss.Cause.REMOVED);
            assertThatThrownBy(hold::close).isInstanceOf(LockLostException.class);
        }

        @Test
        @DisplayName("by force before it has heard of the grant, it is asked for again at once")
        @Tag("C15")
        void releaseByForceOvertakesTheGrant() throws Exception {
            FaultyLink.HeldUp grant = link.holdUpNext(Command.Acquire.class);
            Actor bob = world.actor("bob");
            Doing<Hold> acquiring = bob.start(lock::acquire);
            grant.awaitCommand();
            Reply reply = grant.deliver();
            world.releaseByForce("ledger");
            world.time().settle();
            grant.answer(reply);

            Hold hold = acquiring.result();
            assertThat(hold.isHeld()).isTrue();
            assertThat(world.holderOf("ledger")).hasValue("alice");
            assertThat(link.sent(Command.Acquire.class)).hasSize(2);
            bob.run(hold::close);
        }

        @Test
        @DisplayName("a push that was lost is made good by the audit, within two ttls")
        void audit() throws InterruptedException {
            Hold hold = acquired();
            link.loseSignals();
            world.releaseByForce("ledger");
            assertThat(hold.isHeld()).isTrue();

            world.advance(TTL.multipliedBy(2));

            assertThat(told).containsExactly(Loss.Cause.REMOVED);
            assertThatThrownBy(hold::close).isInstanceOf(LockLostException.class);
        }

        @Test
        @DisplayName("between the push and the store's word the hold is in doubt")
        void inDoubtMeanwhile() throws Exception {
            Hold hold = acquired();
            FaultyLink.HeldUp question = link.holdUpNext(Command.Poll.class);
            link.signal(new Signal.Revoked(claimOfHolder()));
            question.awaitCommand();

            assertThat(hold.isHeld()).isFalse();
            assertThat(hold.remaining()).isPositive();
            assertThat(told).isEmpty();

            question.proceed();
            assertThat(hold.isHeld()).isTrue();
            hold.close();
        }

        @Test
        @DisplayName("after a push that the session ended, a keep-alive from before it does not end the doubt")
        void inDoubtAboutTheSession() throws Exception {
            Hold hold = acquired();
            FaultyLink.HeldUp before = link.holdUpNext(KeepAlive.class);
            world.advance(Duration.ofSeconds(10));
            before.awaitCommand();
            FaultyLink.HeldUp question = link.holdUpNext(KeepAlive.class);
            link.signal(new Signal.SessionEnded(claimOfHolder().session()));
            question.awaitCommand();

            assertThat(hold.isHeld()).isFalse();
            before.proceed();
            assertThat(hold.isHeld()).isFalse();
            assertThat(told).isEmpty();

            question.proceed();
            assertThat(hold.isHeld()).isTrue();
            hold.close();
        }

        @Test
        @DisplayName("a push that another session ended changes nothing, and costs no question")
        @Tag("C14")
        void endOfAnotherSession() throws InterruptedException {
            Hold hold = acquired();
            FaultyLink.HeldUp question = link.holdUpNext(KeepAlive.class);

            link.signal(new Signal.SessionEnded(new SessionId("another")));

            assertThat(hold.isHeld()).isTrue();
            assertThat(link.sent(KeepAlive.class)).isEmpty();
            world.advance(Duration.ofSeconds(10));
            question.proceed();
            hold.close();
        }

        @Test
        @DisplayName("a question that fails is asked again")
        void questionFails() throws InterruptedException {
            Hold hold = acquired();
            link.failNext(Command.Poll.class, Reason.UNAVAILABLE, Effect.UNKNOWN);
            link.failNext(KeepAlive.class, Reason.UNAVAILABLE, Effect.UNKNOWN);
            link.signal(new Signal.Revoked(claimOfHolder()));
            link.signal(new Signal.SessionEnded(claimOfHolder().session()));
            assertThat(hold.isHeld()).isFalse();

            world.advance(Duration.ofSeconds(1));

            assertThat(hold.isHeld()).isTrue();
            hold.close();
        }

        @Test
        @DisplayName("a push that was wrong costs nothing but the question")
        @Tag("C14")
        void wrongPush() throws InterruptedException {
            Hold hold = acquired();
            link.signal(new Signal.Revoked(claimOfHolder()));
            link.signal(new Signal.SessionEnded(claimOfHolder().session()));
            world.time().settle();

            assertThat(hold.isHeld()).isTrue();
            assertThat(told).isEmpty();
            hold.close();
        }

        @Test
        @DisplayName("the end of the session ends all its holds before the first loss is told")
        @Tag("C4")
        void endOfTheSessionSeenByAListener() throws InterruptedException {
            List<Hold> holds = new CopyOnWriteArrayList<>();
            List<Boolean> held = new CopyOnWriteArrayList<>();
            List<Object> tokens = new CopyOnWriteArrayList<>();
            AcquisitionListener looksAtAll = new AcquisitionListener() {
                @Override
                public void onLost(Loss loss) {
                    holds.forEach(hold -> held.add(hold.isHeld()));
                    holds.forEach(hold -> tokens.add(catchThrowable(hold::fencingToken)));
                }
            };
            Holdfast bob = world.client(world.builder("bob").listener(request -> looksAtAll));
            holds.add(bob.lock("ledger").acquire());
            holds.add(bob.lock("other").acquire());

            world.ask(new Command.CloseSession(claimOfHolder().session()));
            world.time().settle();

            assertThat(held).containsExactly(false, false, false, false);
            assertThat(tokens).hasSize(4).hasOnlyElementsOfType(LockLostException.class);
            for (Hold hold : holds) {
                assertThatThrownBy(hold::close).isInstanceOf(LockLostException.class);
            }
        }

        @Test
        @DisplayName("the end of the session ends all its holds")
        void endOfTheSession() throws InterruptedException {
            Hold hold = acquired();
            Hold other = holdfast.lock("other").acquire();
            var session = world.recordOf("ledger")
                    .orElseThrow()
                    .holders()
                    .get(0)
                    .claim()
                    .session();

            world.ask(new Command.CloseSession(session));
            world.time().settle();

            assertThat(hold.isHeld()).isFalse();
            assertThat(other.isHeld()).isFalse();
            assertThat(told).containsExactly(Loss.Cause.SESSION_ENDED);
            assertThatThrownBy(hold::close).isInstanceOf(LockLostException.class);
            assertThatThrownBy(other::close).isInstanceOf(LockLostException.class);
            lock.acquire().close();
        }
    }

    @Nested
    @DisplayName("when its owner is gone")
    class OwnerDied {

        @Test
        @DisplayName(
                "the thread of a hold that died is noticed at the next keep-alive, the loss is told, and the lock is released")
        void died() throws Exception {
            Actor bob = world.actor("bob");
            Hold hold = bob.call(() -> lock.acquire());
            hold.onLost(loss -> told.add(loss.cause()));
            bob.die();

            world.advance(Duration.ofSeconds(10));

            assertThat(told).containsExactly(Loss.Cause.OWNER_DIED);
            assertThat(hold.isHeld()).isFalse();
            assertThat(world.holderOf("ledger")).isEmpty();
        }

        @Test
        @DisplayName("is noticed among very many locks too, and after keep-alives that were answered during a check")
        void diedAmongVeryMany() throws Exception {
            for (int i = 0; i < 1_500; i++) {
                holdfast.lock("order-" + i).lock();
            }
            Actor bob = world.actor("bob");
            Hold hold = bob.call(() -> lock.acquire());
            hold.onLost(loss -> told.add(loss.cause()));
            link.forget();
            for (int i = 1; i <= 2; i++) {
                world.time().stepWall(Duration.ofHours(1));
                bob.run(hold::ensureHeld);
                assertThat(link.sent(KeepAlive.class)).hasSize(i);
            }
            world.advance(Duration.ofMillis(1));
            bob.die();

            world.advance(Duration.ofSeconds(10));

            assertThat(told).containsExactly(Loss.Cause.OWNER_DIED);
            assertThat(world.holderOf("ledger")).isEmpty();
        }

        @Test
        @DisplayName("and the thread that waits for it goes on")
        @Tag("C15")
        void waiterGoesOn() throws Exception {
            Actor bob = world.actor("bob");
            Actor carol = world.actor("carol");
            bob.call(() -> lock.acquire());
            Doing<Hold> waiting = carol.startWaiting(() -> lock.acquire());
            bob.die();

            world.advance(Duration.ofSeconds(10));

            carol.run(waiting.result()::close);
        }
    }
}
