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
import dev.holdfast.spi.Command.Release;
import dev.holdfast.spi.Command.Sending;
import dev.holdfast.spi.Command.Withdraw;
import dev.holdfast.spi.Reply;
import dev.holdfast.spi.StoreException.Effect;
import dev.holdfast.spi.StoreException.Reason;
import dev.holdfast.verification.world.Actor;
import dev.holdfast.verification.world.Actor.Doing;
import dev.holdfast.verification.world.Eventually;
import dev.holdfast.verification.world.FaultyLink;
import dev.holdfast.verification.world.World;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@DisplayName("Granted, refused and unknown are never mixed")
@Tag("C7")
class UnknownOutcomeTest {

    private static final Duration STORE_TIMEOUT = Duration.ofSeconds(10);

    private final World world = World.still();
    private final FaultyLink link = world.link();
    private final Holdfast holdfast = world.client("alice", link);
    private final DistributedLock lock = holdfast.lock("ledger");
    private final Actor bob = world.actor("bob");

    @AfterEach
    void close() {
        world.close();
    }

    /** Lets time pass, a little at a time, until something is so. */
    private void passesUntil(String what, java.util.function.BooleanSupplier condition) {
        Eventually.holds(what, () -> {
            world.advance(Duration.ofMillis(50));
            return condition.getAsBoolean();
        });
    }

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

            passesUntil("it is granted", acquiring::isDone);

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

            passesUntil("it is granted", acquiring::isDone);

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
        @DisplayName("that arrives late, after the raise, has no effect")
        void arrivesLate() throws Exception {
            FaultyLink.HeldUp late = link.holdUpNext(Acquire.class);
            Doing<Hold> acquiring = bob.startWaiting(() -> lock.acquire());
            passesUntil("it is granted", acquiring::isDone);
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

            passesUntil("it is given back", () -> world.holderOf("ledger").isEmpty());
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

            passesUntil("it is granted", acquiring::isDone);

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
            link.answerNext(Acquire.class, new Reply.Done());
            assertThatThrownBy(() -> bob.call(() -> lock.acquire())).isInstanceOf(StoreUnavailableException.class);
            assertThat(bob.<Integer>call(lock::holdCount)).isZero();
        }
    }

    @Nested
    @DisplayName("While the store is silent")
    class Silence {

        @Test
        @DisplayName("who waits is told so within the store time-out and a quarter, and that is not 'taken'")
        @Tag("C15")
        void waitersFail() throws Exception {
            link.cut();
            Doing<Hold> acquiring = bob.startWaiting(() -> lock.acquire());
            Actor carol = world.actor("carol");
            Doing<Boolean> locking = carol.startWaiting(() -> {
                lock.lock();
                return true;
            });
            CompletableFuture<Hold> stage = lock.acquireAsync().toCompletableFuture();

            world.advance(STORE_TIMEOUT.plus(STORE_TIMEOUT.dividedBy(4)));

            assertThatThrownBy(acquiring::result)
                    .isInstanceOf(StoreUnavailableException.class)
                    .hasMessageContaining("ledger");
            assertThatThrownBy(locking::result).isInstanceOf(StoreUnavailableException.class);
            assertThatThrownBy(() -> stage.get(60, TimeUnit.SECONDS))
                    .hasCauseInstanceOf(StoreUnavailableException.class);
        }

        @Test
        @DisplayName("a wait that ends before the store has said anything is not 'taken' either")
        void shortWait() throws Exception {
            link.cut();
            Doing<Boolean> trying = bob.startWaiting(() -> lock.tryLock(1, TimeUnit.SECONDS));
            CompletableFuture<Hold> stage = holdfast.lock("other")
                    .acquireAsync(dev.holdfast.AcquireOptions.defaults().withMaxWait(Duration.ofSeconds(1)))
                    .toCompletableFuture();

            world.advance(Duration.ofSeconds(2));

            assertThatThrownBy(trying::result)
                    .isInstanceOf(StoreUnavailableException.class)
                    .hasMessageContaining("PT1S");
            assertThatThrownBy(() -> stage.get(60, TimeUnit.SECONDS))
                    .hasCauseInstanceOf(StoreUnavailableException.class)
                    .hasMessageContaining("PT1S");
        }

        @Test
        @DisplayName("a try is told so within the store time-out")
        @Tag("C15")
        void tries() throws Exception {
            link.cut();
            Doing<Boolean> trying = bob.startWaiting(lock::tryLock);

            world.advance(STORE_TIMEOUT);

            assertThatThrownBy(trying::result).isInstanceOf(StoreUnavailableException.class);
        }

        @Test
        @DisplayName("a wait that is over while another's claim is being settled is 'taken': the store had spoken")
        void spokenBefore() throws Exception {
            Hold first = lock.acquire(dev.holdfast.AcquireOptions.defaults().withMaxHold(Duration.ofSeconds(20)));
            Doing<Boolean> trying = bob.startWaiting(() -> lock.tryLock(5, TimeUnit.SECONDS));
            world.advance(Duration.ofSeconds(5).minusNanos(1));
            FaultyLink.HeldUp next = link.holdUpNext(Acquire.class);
            first.close();
            next.awaitCommand();

            world.advance(Duration.ofNanos(1));

            assertThat(trying.result()).isFalse();
            next.proceed();
        }

        @Test
        @DisplayName("waiters go on when the store comes back in time")
        @Tag("C15")
        void comesBack() throws Exception {
            link.cut();
            Doing<Hold> acquiring = bob.startWaiting(() -> lock.acquire());
            world.advance(Duration.ofSeconds(4));
            assertThat(acquiring.isDone()).isFalse();

            link.mend();

            passesUntil("it is granted", acquiring::isDone);
            bob.run(acquiring.result()::close);
        }

        @Test
        @DisplayName("a waiter whose place is at the store keeps it, and is granted though the push was lost")
        void keepsItsPlace() throws Exception {
            DistributedLock theirs = world.client("carol").lock("ledger");
            Actor carol = world.actor("carol");
            Hold first = carol.call(() -> theirs.acquire());
            Doing<Hold> acquiring = bob.startWaiting(() -> lock.acquire());
            link.loseSignals();
            carol.run(first::close);
            assertThat(world.holderOf("ledger")).contains("alice");
            assertThat(acquiring.isDone()).isFalse();

            passesUntil("a poll finds the grant", acquiring::isDone);

            bob.run(acquiring.result()::close);
        }

        @Test
        @DisplayName("a waiter that the store has forgotten is queued again under a new id")
        void forgotten() throws Exception {
            DistributedLock theirs = world.client("carol").lock("ledger");
            Actor carol = world.actor("carol");
            Hold first = carol.call(() -> theirs.acquire());
            Doing<Hold> acquiring = bob.startWaiting(() -> lock.acquire());
            var claim = world.recordOf("ledger").orElseThrow().waiters().get(0).claim();
            world.ask(new Withdraw(claim, Sending.FIRST));
            assertThat(world.waitersOf("ledger")).isZero();

            link.signal(new dev.holdfast.spi.Signal.Resubscribed());

            assertThat(world.waitersOf("ledger")).isEqualTo(1);
            assertThat(world.recordOf("ledger").orElseThrow().waiters().get(0).claim())
                    .isNotEqualTo(claim);
            carol.run(first::close);
            bob.run(acquiring.result()::close);
        }

        @Test
        @DisplayName("a hold stays good to its deadline, and can be entered again")
        @Tag("C14")
        void holdsStayGood() throws Exception {
            Hold hold = lock.acquire();
            link.cut();
            world.advance(Duration.ofSeconds(16));

            assertThat(hold.isHeld()).isTrue();
            lock.acquire().close();

            link.mend();
            world.advance(Duration.ofSeconds(5));
            hold.close();
        }
    }

    @Nested
    @DisplayName("A release whose outcome is unknown")
    @Tag("C13")
    class Releasing {

        @Test
        @DisplayName("is told as such within the store time-out, and repeated until the store has it")
        void unconfirmed() throws Exception {
            Hold hold = bob.call(() -> lock.acquire());
            link.cut();
            Doing<Boolean> closing = bob.start(() -> {
                hold.close();
                return true;
            });
            passesUntil("the owner is told", closing::isDone);

            assertThatThrownBy(closing::result)
                    .isInstanceOf(StoreUnavailableException.class)
                    .hasMessageContaining("ledger")
                    .hasMessageContaining("release");
            assertThat(hold.isHeld()).isFalse();
            assertThat(bob.<Integer>call(lock::holdCount)).isZero();
            assertThat(world.holderOf("ledger")).contains("alice");

            link.mend();
            passesUntil("the store has it", () -> world.holderOf("ledger").isEmpty());
        }

        @Test
        @DisplayName("is UNCONFIRMED as a value")
        void asAValue() throws Exception {
            Hold hold = lock.acquire();
            link.fail(Release.class, Reason.UNAVAILABLE, Effect.UNKNOWN);
            CompletableFuture<ReleaseOutcome> outcome = hold.releaseAsync().toCompletableFuture();

            world.advance(STORE_TIMEOUT);

            assertThat(outcome.get(60, TimeUnit.SECONDS)).isEqualTo(ReleaseOutcome.UNCONFIRMED);
            link.mend();
            passesUntil("the store has it", () -> world.holderOf("ledger").isEmpty());
        }

        @Test
        @DisplayName("ends within the store time-out also where only releases fail, and all else is answered")
        void onlyReleasesFail() throws Exception {
            Hold hold = lock.acquire();
            link.fail(Release.class, Reason.UNAVAILABLE, Effect.UNKNOWN);
            CompletableFuture<ReleaseOutcome> outcome = hold.releaseAsync().toCompletableFuture();
            for (int i = 0; i < 10; i++) {
                assertThat(holdfast.lock("other").tryLock()).isTrue();
                world.advance(STORE_TIMEOUT.dividedBy(10));
            }

            assertThat(outcome.isDone()).isTrue();
            assertThat(outcome.get()).isEqualTo(ReleaseOutcome.UNCONFIRMED);
            link.mend();
            passesUntil("the store has it", () -> world.holderOf("ledger").isEmpty());
            while (holdfast.lock("other").holdCount() > 0) {
                holdfast.lock("other").unlock();
            }
        }

        @Test
        @DisplayName("that had taken effect is a release: the repeat finds nothing, and that is not a loss")
        void replyLost() throws Exception {
            Hold hold = lock.acquire();
            link.loseReplyToNext(Release.class);
            CompletableFuture<ReleaseOutcome> outcome = hold.releaseAsync().toCompletableFuture();

            passesUntil("it is repeated", outcome::isDone);

            assertThat(outcome.get()).isEqualTo(ReleaseOutcome.RELEASED);
            assertThat(link.sent(Release.class)).hasSize(2);
        }

        @Test
        @DisplayName("keeps the next thread of the process waiting no longer than the store needs")
        @Tag("C15")
        void nextThread() throws Exception {
            Hold hold = lock.acquire();
            link.loseNext(Release.class);
            CompletableFuture<ReleaseOutcome> outcome = hold.releaseAsync().toCompletableFuture();
            Doing<Hold> acquiring = bob.startWaiting(() -> lock.acquire());
            assertThat(acquiring.isDone()).isFalse();

            passesUntil("it is granted", acquiring::isDone);

            assertThat(outcome.isDone()).isTrue();
            bob.run(acquiring.result()::close);
        }

        @Test
        @DisplayName("ends with the session at the latest: the store never answers again")
        void endsWithTheSession() throws Exception {
            Hold hold = lock.acquire();
            link.cut();
            CompletableFuture<ReleaseOutcome> outcome = hold.releaseAsync().toCompletableFuture();
            world.advance(Duration.ofMinutes(2));

            assertThat(outcome.get()).isEqualTo(ReleaseOutcome.UNCONFIRMED);
            int sent = link.sent(Release.class).size();
            world.advance(Duration.ofMinutes(10));
            assertThat(link.sent(Release.class)).as("nothing is sent for ever").hasSize(sent);
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
            passesUntil("the next is granted", next::isDone);
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
        passesUntil("it is granted anew", stage::isDone);
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
        passesUntil("the late one is answered", after::isDone);

        after.get().close();
        assertThat(before)
                .failsWithin(Duration.ZERO)
                .withThrowableThat()
                .withCauseInstanceOf(StoreRefusedException.class);
        bob.run(early::close);
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
