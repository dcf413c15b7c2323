package dev.holdfast.verification.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.DistributedCountDownLatch;
import dev.holdfast.DistributedLock;
import dev.holdfast.DistributedSemaphore;
import dev.holdfast.Hold;
import dev.holdfast.Holdfast;
import dev.holdfast.ReleaseOutcome;
import dev.holdfast.StoreUnavailableException;
import dev.holdfast.spi.Command;
import dev.holdfast.spi.Command.Acquire;
import dev.holdfast.spi.Command.Release;
import dev.holdfast.spi.Command.Sending;
import dev.holdfast.spi.Command.Withdraw;
import dev.holdfast.spi.Signal;
import dev.holdfast.spi.StoreException.Effect;
import dev.holdfast.spi.StoreException.Reason;
import dev.holdfast.verification.world.Actor;
import dev.holdfast.verification.world.Actor.Doing;
import dev.holdfast.verification.world.Eventually;
import dev.holdfast.verification.world.FaultyLink;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@DisplayName("Granted, refused and unknown are never mixed")
@Tag("C7")
class SilentStoreTest extends UnknownOutcomeFixture {

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
        @DisplayName("who waits is told so within the store time-out, however seldom keep-alives are sent")
        @Tag("C15")
        void longSession() throws Exception {
            FaultyLink patientLink = world.link();
            Holdfast patient =
                    world.client(world.builder("patient", patientLink).sessionTtl(Duration.ofMinutes(10)));
            patientLink.fail(Command.class, Reason.UNAVAILABLE, Effect.NONE);
            Doing<Hold> acquiring =
                    bob.startWaiting(() -> patient.lock("ledger").acquire());

            world.advance(STORE_TIMEOUT.plusSeconds(1));

            assertThatThrownBy(acquiring::result).isInstanceOf(StoreUnavailableException.class);
        }

        @Test
        @DisplayName("who waits for the tokens of a grant is told so as well")
        @Tag("C15")
        void tokens() {
            FaultyLink patientLink = world.link();
            DistributedLock theirs = world.client(
                            world.builder("patient", patientLink).sessionTtl(Duration.ofMinutes(10)))
                    .lock("ledger");
            Hold held = theirs.acquireAsync().toCompletableFuture().join();
            CompletableFuture<Hold> next = theirs.acquireAsync().toCompletableFuture();
            patientLink.fail(Command.class, Reason.UNAVAILABLE, Effect.NONE);
            held.close();
            assertThat(patientLink.sent(Command.Advance.class)).isNotEmpty();
            assertThat(next).isNotDone();

            world.advance(STORE_TIMEOUT.plusSeconds(1));

            assertThat(next)
                    .failsWithin(Duration.ZERO)
                    .withThrowableThat()
                    .withCauseInstanceOf(StoreUnavailableException.class);
        }

        @Test
        @DisplayName("who waits for the question before a strict hand-over is told so as well")
        @Tag("C15")
        void question() {
            FaultyLink patientLink = world.link();
            DistributedLock theirs = world.client(world.builder("patient", patientLink)
                            .sessionTtl(Duration.ofMinutes(10))
                            .cohortBudget(Duration.ZERO))
                    .lock("ledger");
            Hold held = theirs.acquireAsync().toCompletableFuture().join();
            CompletableFuture<Hold> next = theirs.acquireAsync().toCompletableFuture();
            world.advance(Duration.ofMillis(1));
            patientLink.forget();
            patientLink.fail(Command.class, Reason.UNAVAILABLE, Effect.NONE);
            held.close();
            world.time().settle();
            assertThat(patientLink.sent(Command.Poll.class)).isNotEmpty();
            assertThat(next).isNotDone();

            world.advance(STORE_TIMEOUT.plusSeconds(1));

            assertThat(next)
                    .failsWithin(Duration.ZERO)
                    .withThrowableThat()
                    .withCauseInstanceOf(StoreUnavailableException.class);
        }

        @Test
        @DisplayName("who waits for another thread is told so when an audit finds it")
        @Tag("C15")
        void audit() throws Exception {
            FaultyLink patientLink = world.link();
            DistributedLock theirs = world.client(
                            world.builder("patient", patientLink).sessionTtl(Duration.ofMinutes(10)))
                    .lock("ledger");
            Hold held = theirs.acquire();
            Doing<Hold> acquiring = bob.startWaiting(() -> theirs.acquire());
            world.advance(Duration.ofMillis(1));
            patientLink.fail(Command.class, Reason.UNAVAILABLE, Effect.NONE);
            patientLink.forget();

            patientLink.signal(new Signal.FailedOver());
            world.advance(STORE_TIMEOUT.plusSeconds(1));

            assertThat(patientLink.sent()).hasOnlyElementsOfType(Command.Audit.class);
            assertThatThrownBy(acquiring::result).isInstanceOf(StoreUnavailableException.class);
            patientLink.mend();
            held.close();
        }

        @Test
        @DisplayName("who waits for a latch is told so when a later waiter finds it")
        @Tag("C15")
        void latch() throws Exception {
            FaultyLink patientLink = world.link();
            DistributedCountDownLatch latch = world.client(
                            world.builder("patient", patientLink).sessionTtl(Duration.ofMinutes(10)))
                    .latch("imported");
            assertThat(latch.trySetCount(1)).isTrue();
            Doing<Boolean> first = bob.startWaiting(() -> latch.await(Duration.ofHours(1)));
            patientLink.fail(Command.class, Reason.UNAVAILABLE, Effect.NONE);
            Doing<Boolean> second = world.actor("carol").startWaiting(() -> latch.await(Duration.ofHours(1)));

            world.advance(STORE_TIMEOUT.plusSeconds(2));

            assertThatThrownBy(first::result).isInstanceOf(StoreUnavailableException.class);
            assertThatThrownBy(second::result).isInstanceOf(StoreUnavailableException.class);
            patientLink.mend();
            latch.countDown();
        }

        @Test
        @DisplayName("a waiter in the store's queue is told when another call finds that the store is silent")
        @Tag("C15")
        void foundByAnotherCall() throws Exception {
            // The next keep-alive comes after three minutes, and no one polls before that.
            FaultyLink patientLink = world.link();
            Holdfast patient =
                    world.client(world.builder("patient", patientLink).sessionTtl(Duration.ofMinutes(10)));
            DistributedLock theirs = world.client(world.builder("dave").sessionTtl(Duration.ofMinutes(10)))
                    .lock("ledger");
            Hold held = theirs.acquire();
            Doing<Hold> acquiring =
                    bob.startWaiting(() -> patient.lock("ledger").acquire());
            patientLink.fail(Command.class, Reason.UNAVAILABLE, Effect.NONE);
            DistributedSemaphore permits = patient.semaphore("permits", 3);
            Actor operator = world.actor("operator");
            Doing<Boolean> first = operator.start(() -> permits.resize(5));
            Eventually.holds(
                    "it is sent", () -> !patientLink.sent(Command.Resize.class).isEmpty());
            world.advance(STORE_TIMEOUT);
            assertThatThrownBy(first::result).isInstanceOf(StoreUnavailableException.class);
            assertThat(acquiring.isDone()).isFalse();

            Doing<Boolean> second = operator.start(() -> permits.resize(5));

            assertThatThrownBy(acquiring::result).isInstanceOf(StoreUnavailableException.class);
            world.advance(STORE_TIMEOUT);
            assertThatThrownBy(second::result).isInstanceOf(StoreUnavailableException.class);
            held.close();
        }

        @Test
        @DisplayName("a wait that ends before the store has said anything is not 'taken' either")
        void shortWait() throws Exception {
            link.cut();
            Doing<Boolean> trying = bob.startWaiting(() -> lock.tryLock(1, TimeUnit.SECONDS));
            CompletableFuture<Hold> stage = holdfast.lock("other")
                    .acquireAsync(dev.holdfast.AcquireOptions.defaults().withMaxWait(Duration.ofSeconds(1)))
                    .toCompletableFuture();

            world.advance(STORE_TIMEOUT);

            assertThatThrownBy(trying::result).isInstanceOf(StoreUnavailableException.class);
            assertThatThrownBy(() -> stage.get(60, TimeUnit.SECONDS))
                    .hasCauseInstanceOf(StoreUnavailableException.class);
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

            world.advanceUntil("it is granted", acquiring::isDone);
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

            world.advanceUntil("a poll finds the grant", acquiring::isDone);

            bob.run(acquiring.result()::close);
        }

        @Test
        @DisplayName("a waiter is granted at once after a fail-over, though the push was lost")
        void failedOver() throws Exception {
            DistributedLock theirs = world.client("carol").lock("ledger");
            Actor carol = world.actor("carol");
            Hold first = carol.call(() -> theirs.acquire());
            Doing<Hold> acquiring = bob.startWaiting(() -> lock.acquire());
            link.loseSignals();
            carol.run(first::close);
            assertThat(acquiring.isDone()).isFalse();

            link.signal(new Signal.FailedOver());

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
            world.advanceUntil("the owner is told", closing::isDone);

            assertThatThrownBy(closing::result)
                    .isInstanceOf(StoreUnavailableException.class)
                    .hasMessageContaining("ledger")
                    .hasMessageContaining("release");
            assertThat(hold.isHeld()).isFalse();
            assertThat(bob.<Integer>call(lock::holdCount)).isZero();
            assertThat(world.holderOf("ledger")).contains("alice");

            link.mend();
            world.advanceUntil(
                    "the store has it", () -> world.holderOf("ledger").isEmpty());
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
            world.advanceUntil(
                    "the store has it", () -> world.holderOf("ledger").isEmpty());
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
            world.advanceUntil(
                    "the store has it", () -> world.holderOf("ledger").isEmpty());
            while (holdfast.lock("other").holdCount() > 0) {
                holdfast.lock("other").unlock();
            }
        }

        @Test
        @DisplayName("is repeated, and not taken for forgotten by the audits of the session, however long that takes")
        void isNotForgotten() throws Exception {
            Hold hold = lock.acquire();
            link.fail(Release.class, Reason.UNAVAILABLE, Effect.UNKNOWN);
            CompletableFuture<ReleaseOutcome> outcome = hold.releaseAsync().toCompletableFuture();

            world.advance(Duration.ofMinutes(3));

            assertThat(outcome.get()).isEqualTo(ReleaseOutcome.UNCONFIRMED);
            assertThat(link.sent(Command.Audit.class)).hasSizeGreaterThan(3);
            assertThat(link.sent(Withdraw.class)).isEmpty();
            link.mend();
            world.advanceUntil(
                    "the store has it", () -> world.holderOf("ledger").isEmpty());
        }

        @Test
        @DisplayName("that had taken effect is a release: the repeat finds nothing, and that is not a loss")
        void replyLost() throws Exception {
            Hold hold = lock.acquire();
            link.loseReplyToNext(Release.class);
            CompletableFuture<ReleaseOutcome> outcome = hold.releaseAsync().toCompletableFuture();

            world.advanceUntil("it is repeated", outcome::isDone);

            assertThat(outcome.get()).isEqualTo(ReleaseOutcome.RELEASED);
            assertThat(link.sent(Release.class)).hasSize(2);
        }

        @Test
        @DisplayName("has an outcome with the answer: the thread that closes the hold waits for it")
        void answeredInTime() throws Exception {
            Hold hold = bob.call(() -> lock.acquire());
            FaultyLink.HeldUp release = link.holdUpNext(Release.class);
            Doing<Boolean> closing = bob.start(() -> {
                hold.close();
                return true;
            });
            release.awaitCommand();
            world.advance(Duration.ofSeconds(1));
            assertThat(closing.isDone()).isFalse();

            release.proceed();

            assertThat(closing.result()).isTrue();
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

            world.advanceUntil("it is granted", acquiring::isDone);

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
}
