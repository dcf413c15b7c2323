package dev.holdfast.verification.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.DistributedLock;
import dev.holdfast.Hold;
import dev.holdfast.Holdfast;
import dev.holdfast.LockLostException;
import dev.holdfast.Loss;
import dev.holdfast.ReleaseOutcome;
import dev.holdfast.StoreRefusedException;
import dev.holdfast.StoreUnavailableException;
import dev.holdfast.spi.Command;
import dev.holdfast.spi.Command.Acquire;
import dev.holdfast.spi.Command.KeepAlive;
import dev.holdfast.spi.Command.Sending;
import dev.holdfast.spi.Command.Withdraw;
import dev.holdfast.spi.Reply;
import dev.holdfast.spi.Signal;
import dev.holdfast.spi.StoreException.Effect;
import dev.holdfast.spi.StoreException.Reason;
import dev.holdfast.verification.world.Actor;
import dev.holdfast.verification.world.Actor.Doing;
import dev.holdfast.verification.world.FaultyLink;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

@DisplayName("Granted, refused and unknown are never mixed")
@Tag("C7")
class UnknownOutcomeTest extends UnknownOutcomeFixture {

    @Nested
    @DisplayName("An acquisition whose outcome is unknown")
    class Acquisition {

        @Test
        @DisplayName(
                "is asked for again with the same id, after the epoch was raised: the reply was lost, the grant was not")
        void replyLost() throws Exception {
            link.loseReplyToNext(Acquire.class);
            link.forget();
            Doing<Hold> acquiring = bob.startWaiting(() -> lock.acquire());

            world.advanceUntil("it is granted", acquiring::isDone);

            Hold hold = acquiring.result();
            List<Command> sent = link.sent().stream()
                    .filter(command -> command instanceof Acquire || command instanceof KeepAlive)
                    .toList();
            assertThat(sent).hasSize(3);
            Acquire first = (Acquire) sent.get(0);
            KeepAlive raise = (KeepAlive) sent.get(1);
            Acquire second = (Acquire) sent.get(2);
            assertThat(raise.epoch()).isGreaterThan(first.epoch());
            assertThat(second.claim()).isEqualTo(first.claim());
            assertThat(second.epoch()).isEqualTo(raise.epoch());
            assertThat(first.sending()).isEqualTo(Sending.FIRST);
            assertThat(second.sending()).isEqualTo(Sending.REPEAT);
            assertThat(hold.isHeld()).isTrue();
            bob.run(hold::close);
        }

        @Test
        @DisplayName("is asked for again: the request was lost")
        void requestLost() throws Exception {
            link.loseNext(Acquire.class);
            Doing<Hold> acquiring = bob.startWaiting(() -> lock.acquire());

            world.advanceUntil("it is granted", acquiring::isDone);

            bob.run(acquiring.result()::close);
        }

        @Test
        @DisplayName("is not asked for again before the raised epoch is acknowledged")
        void waitsForTheRaise() throws Exception {
            link.failNext(Acquire.class, Reason.UNAVAILABLE, Effect.UNKNOWN);
            FaultyLink.HeldUp raise = link.holdUpNext(KeepAlive.class);
            link.forget();
            Doing<Hold> acquiring = bob.startWaiting(() -> lock.acquire());
            raise.awaitCommand();
            world.advance(Duration.ofSeconds(1));
            assertThat(link.sent(Acquire.class)).hasSize(1);

            raise.proceed();

            bob.run(acquiring.result()::close);
        }

        @Test
        @DisplayName("is asked for again at once if another call has raised the epoch since it was sent")
        void raisedMeanwhile() {
            FaultyLink.HeldUp first = link.holdUpNext(Acquire.class);
            FaultyLink.HeldUp second = link.holdUpNext(Acquire.class);
            CompletableFuture<Hold> one = lock.acquireAsync().toCompletableFuture();
            CompletableFuture<Hold> two = holdfast.lock("other").acquireAsync().toCompletableFuture();
            first.fail(Reason.UNAVAILABLE, Effect.UNKNOWN);
            world.time().settle();
            assertThat(one).isCompleted();
            link.forget();

            second.fail(Reason.UNAVAILABLE, Effect.UNKNOWN);

            world.time().settle();
            assertThat(two).isCompleted();
            assertThat(link.sent(KeepAlive.class)).isEmpty();
            one.join().close();
            two.join().close();
        }

        @Test
        @DisplayName("that arrives late, after the raise, has no effect")
        void arrivesLate() throws Exception {
            FaultyLink.HeldUp late = link.holdUpNext(Acquire.class);
            Doing<Hold> acquiring = bob.startWaiting(() -> lock.acquire());
            world.advanceUntil("it is granted", acquiring::isDone);
            Hold hold = acquiring.result();
            bob.run(hold::close);

            Reply reply = late.deliver();

            assertThat(reply).isInstanceOf(Reply.Stale.class);
            assertThat(world.holderOf("ledger")).isEmpty();
        }

        @Test
        @DisplayName("and that nobody waits for any more is withdrawn, after the raise; a late grant is given back")
        @Tag("C5")
        void lateGrantIsGivenBack() throws Exception {
            FaultyLink.HeldUp late = link.holdUpNext(Acquire.class);
            Doing<Hold> acquiring = bob.startWaiting(() -> lock.acquire());
            late.deliver();
            assertThat(world.holderOf("ledger")).contains("alice");
            bob.interrupt();
            assertThatThrownBy(acquiring::result).isInstanceOf(InterruptedException.class);

            late.answer(new Reply.Stale());

            world.advanceUntil(
                    "it is given back", () -> world.holderOf("ledger").isEmpty());
            assertThat(link.sent(Withdraw.class))
                    .singleElement()
                    .satisfies(withdraw -> assertThat(withdraw.outcome()).isEqualTo(Sending.REPEAT));
        }

        @Test
        @DisplayName("and whose answer comes after all is believed, and withdrawn if nobody waits")
        @Tag("C5")
        void answerAfterInterrupt() throws Exception {
            FaultyLink.HeldUp late = link.holdUpNext(Acquire.class);
            Doing<Hold> acquiring = bob.startWaiting(() -> lock.acquire());
            late.awaitCommand();
            bob.interrupt();
            assertThatThrownBy(acquiring::result).isInstanceOf(InterruptedException.class);

            late.proceed();

            world.awaitIdle();
            assertThat(bob.<Boolean>call(lock::isHeldByCurrentThread)).isFalse();
        }

        @Test
        @DisplayName("that failed without effect is asked for again, without a raise")
        void knownFailure() throws Exception {
            link.failNext(Acquire.class, Reason.UNAVAILABLE, Effect.NONE);
            link.forget();
            Doing<Hold> acquiring = bob.startWaiting(() -> lock.acquire());

            world.advanceUntil("it is granted", acquiring::isDone);

            assertThat(link.sent(KeepAlive.class)).isEmpty();
            bob.run(acquiring.result()::close);
        }

        @Test
        @DisplayName("that was stale is sent again, and is granted")
        void stale() throws Exception {
            link.answerNext(Acquire.class, new Reply.Stale());
            Hold hold = bob.call(() -> lock.acquire());
            assertThat(hold.isHeld()).isTrue();
            assertThat(link.sent(Acquire.class)).hasSize(2);
            bob.run(hold::close);
        }

        @Test
        @DisplayName(
                "that the store refuses for good ends as refused, whether it may have had an effect or not; all that wait learn it")
        void refusedForGood() throws Exception {
            for (Reason reason : List.of(Reason.DENIED, Reason.CORRUPT)) {
                for (Effect effect : Effect.values()) {
                    FaultyLink.HeldUp first = link.holdUpNext(Acquire.class);
                    Doing<Hold> acquiring = bob.startWaiting(() -> lock.acquire());
                    CompletableFuture<Hold> other = lock.acquireAsync().toCompletableFuture();

                    first.fail(reason, effect);

                    assertThatThrownBy(acquiring::result)
                            .isInstanceOf(StoreRefusedException.class)
                            .hasMessageContaining("ledger")
                            .hasMessageContaining("the test says so");
                    assertThatThrownBy(() -> other.get(60, TimeUnit.SECONDS))
                            .hasCauseInstanceOf(StoreRefusedException.class);
                    world.advance(Duration.ofSeconds(1));
                }
            }
            bob.run(() -> lock.acquire().close());
        }

        @Test
        @DisplayName("whose answer makes no sense ends as an error, and holds nothing")
        void nonsense() throws Exception {
            for (Reply reply : List.of(new Reply.Done(), new Reply.Unsupported("no locks here"))) {
                link.answerNext(Acquire.class, reply);
                assertThatThrownBy(() -> bob.call(() -> lock.acquire())).isInstanceOf(StoreUnavailableException.class);
                assertThat(bob.<Integer>call(lock::holdCount)).isZero();
            }
        }

        @Test
        @DisplayName("that waits ends as an error too if the answer to a poll makes no sense")
        void nonsenseWhileWaiting() throws Exception {
            Hold theirs = world.client("carol").lock("ledger").acquire();
            CompletableFuture<Hold> waiting = lock.acquireAsync().toCompletableFuture();
            link.answerNext(Command.Poll.class, new Reply.Polled(List.of(new Reply.Stale())));

            link.signal(new Signal.Resubscribed());
            world.time().settle();

            assertThat(waiting)
                    .failsWithin(Duration.ZERO)
                    .withThrowableThat()
                    .withCauseInstanceOf(StoreUnavailableException.class);
            theirs.close();
        }
    }

    @Nested
    @DisplayName("A yield whose outcome is unknown")
    class Yielding {

        @Test
        @DisplayName("is settled by repeating it: the place in the queue is kept, once")
        void replyLost() throws Exception {
            DistributedLock theirs = world.client("carol").lock("ledger");
            Actor carol = world.actor("carol");
            DistributedLock strict = world.client(
                            world.builder("strict", world.link()).cohortBudget(Duration.ZERO))
                    .lock("ledger");
            FaultyLink strictLink = world.link();
            DistributedLock here = world.client(
                            world.builder("here", strictLink).cohortBudget(Duration.ZERO))
                    .lock("ledger");
            Hold first = here.acquire();
            Doing<Hold> there = carol.startWaiting(() -> theirs.acquire());
            Doing<Hold> next = bob.startWaiting(() -> here.acquire());
            strictLink.loseReplyToNext(Command.Yield.class);

            first.close();

            carol.run(there.result()::close);
            assertThat(next.isDone()).isFalse();
            world.advanceUntil("the next is granted", next::isDone);
            assertThat(strictLink.sent(Command.Yield.class)).hasSizeGreaterThanOrEqualTo(2);
            bob.run(next.result()::close);
            assertThat(strict.tryLock()).isTrue();
            strict.unlock();
        }
    }

    @Test
    @DisplayName(
            "A grant whose session the store has ended by the time of the answer is not a hold, nor does it disturb the next one")
    void sessionEndedMeanwhile() throws Exception {
        FaultyLink.HeldUp late = link.holdUpNext(Acquire.class);
        Doing<Hold> acquiring = bob.startWaiting(() -> lock.acquire());
        Reply.Granted granted = (Reply.Granted) late.deliver();
        world.ask(
                new Command.CloseSession(((Acquire) late.awaitCommand()).claim().session()));
        Hold hold = acquiring.result();
        assertThat(hold.fencingToken()).isGreaterThan(granted.tokens().last());

        late.answer(granted);

        assertThat(hold.isHeld()).isTrue();
        assertThat(world.recordOf("ledger").orElseThrow().holders()).hasSize(1);
        bob.run(hold::close);
    }

    @Test
    @DisplayName("A grant whose answer took longer than the lease is not a hold")
    @Tag("C1")
    void answerAfterTheLease() throws Exception {
        FaultyLink patientLink = world.link();
        Holdfast patient = world.client(world.builder("patient", patientLink).storeTimeout(Duration.ofMinutes(10)));
        FaultyLink.HeldUp late = patientLink.holdUpNext(Acquire.class);
        CompletableFuture<Hold> stage = patient.lock("slow").acquireAsync().toCompletableFuture();
        Reply granted = late.deliver();
        patientLink.fail(KeepAlive.class, Reason.UNAVAILABLE, Effect.NONE);
        patientLink.fail(Command.OpenSession.class, Reason.UNAVAILABLE, Effect.NONE);
        world.advance(Duration.ofSeconds(28));

        late.answer(granted);
        world.time().settle();

        assertThat(stage.isDone()).isFalse();
        assertThat(world.holderOf("slow"))
                .as("it is withdrawn before the lease is over")
                .isEmpty();
        patientLink.mend();
        world.advanceUntil("it is granted anew", stage::isDone);
        stage.get().close();
    }

    @Test
    @DisplayName("What waits for a session fails with a request for one that came after it, not with one from before")
    @Tag("C15")
    void sessionRefusedBefore() throws Exception {
        FaultyLink patientLink = world.link();
        Holdfast patient = world.client(world.builder("patient", patientLink).storeTimeout(Duration.ofMinutes(10)));
        Hold early = bob.call(() -> holdfast.lock("early").acquire());
        CompletableFuture<Hold> before = patient.lock("early").acquireAsync().toCompletableFuture();
        patientLink.fail(KeepAlive.class, Reason.UNAVAILABLE, Effect.NONE);
        FaultyLink.HeldUp opening = patientLink.holdUpNext(Command.OpenSession.class);
        world.advance(Duration.ofSeconds(28));
        opening.awaitCommand();
        CompletableFuture<Hold> after = patient.lock("late").acquireAsync().toCompletableFuture();

        patientLink.mend();
        opening.fail(Reason.DENIED, Effect.NONE);
        world.advanceUntil("the late one is answered", after::isDone);

        after.get().close();
        assertThat(before)
                .failsWithin(Duration.ZERO)
                .withThrowableThat()
                .withCauseInstanceOf(StoreRefusedException.class);
        bob.run(early::close);
    }

    @ParameterizedTest
    @EnumSource(names = {"DENIED", "CORRUPT", "UNAVAILABLE"})
    @DisplayName(
            "What waits for a session fails at once if the store refuses it for good, and not if it does not answer")
    void sessionNotOpened(Reason reason) throws Exception {
        FaultyLink patientLink = world.link();
        Holdfast patient = world.client(world.builder("patient", patientLink).storeTimeout(Duration.ofMinutes(10)));
        patientLink.fail(KeepAlive.class, Reason.UNAVAILABLE, Effect.NONE);
        FaultyLink.HeldUp first = patientLink.holdUpNext(Command.OpenSession.class);
        world.advance(Duration.ofSeconds(28));
        first.awaitCommand();
        patientLink.fail(Command.OpenSession.class, reason, Effect.NONE);
        CompletableFuture<Hold> waiting = patient.lock("ledger").acquireAsync().toCompletableFuture();

        first.fail(reason, Effect.NONE);
        world.advance(Duration.ofSeconds(5));

        assertThat(waiting.isDone()).isEqualTo(reason != Reason.UNAVAILABLE);
        patientLink.mend();
        if (waiting.isDone()) {
            assertThat(waiting)
                    .failsWithin(Duration.ZERO)
                    .withThrowableThat()
                    .withCauseInstanceOf(StoreRefusedException.class);
        } else {
            world.advanceUntil("it is granted", waiting::isDone);
            waiting.join().close();
        }
    }

    @Test
    @DisplayName("A release that finds the grant gone tells the loss")
    @Tag("C13")
    void releaseFindsNothing() throws Exception {
        Hold hold = lock.acquire();
        link.loseSignals();
        world.releaseByForce("ledger");

        assertThat(hold.releaseAsync().toCompletableFuture().get(60, TimeUnit.SECONDS))
                .isEqualTo(ReleaseOutcome.LOST);
        assertThatThrownBy(() -> {
                    Hold again = lock.acquire();
                    world.releaseByForce("ledger");
                    again.close();
                })
                .isInstanceOfSatisfying(
                        LockLostException.class,
                        e -> assertThat(e.loss().cause()).isEqualTo(Loss.Cause.REMOVED));
    }
}
