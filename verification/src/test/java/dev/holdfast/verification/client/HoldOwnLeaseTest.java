package dev.holdfast.verification.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.AcquireOptions;
import dev.holdfast.DistributedLock;
import dev.holdfast.Hold;
import dev.holdfast.Holdfast;
import dev.holdfast.LockLostException;
import dev.holdfast.Loss;
import dev.holdfast.spi.Command;
import dev.holdfast.spi.LockStore;
import dev.holdfast.spi.Reply;
import dev.holdfast.spi.StoreTraits;
import dev.holdfast.spi.support.ForwardingStore;
import dev.holdfast.verification.world.Actor;
import dev.holdfast.verification.world.Actor.Doing;
import dev.holdfast.verification.world.FaultyLink;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutionException;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@DisplayName("A hold")
class HoldOwnLeaseTest extends HoldFixture {

    @Nested
    @DisplayName("with a lease of its own")
    class OwnLease {

        private final AcquireOptions tenSeconds = AcquireOptions.defaults().withFixedLease(Duration.ofSeconds(10));

        @Test
        @DisplayName("ends when a fixed lease is over, though the session is renewed, and tells it then")
        void fixedLeaseEnds() throws InterruptedException {
            List<Loss> told = new CopyOnWriteArrayList<>();
            Hold hold = lock.acquire(tenSeconds);
            hold.onLost(told::add);
            assertThat(hold.effectiveLease()).isEqualTo(Duration.ofSeconds(10));
            assertThat(hold.remaining()).isEqualTo(Duration.ofSeconds(9));

            world.advance(Duration.ofSeconds(9).minusNanos(1));
            assertThat(hold.isHeld()).isTrue();
            world.advance(Duration.ofNanos(1));

            assertThat(hold.isHeld()).isFalse();
            assertThat(told).extracting(Loss::cause).containsExactly(Loss.Cause.LEASE_ENDED);
            assertThatThrownBy(hold::close).isInstanceOf(LockLostException.class);
        }

        @Test
        @DisplayName("that is over since the machine slept is found to be so by the first who asks for its token")
        void tokenAfterTheEnd() throws InterruptedException {
            Hold hold = lock.acquire(tenSeconds);
            world.time().suspend(Duration.ofSeconds(15));

            assertThatThrownBy(hold::fencingToken)
                    .isInstanceOfSatisfying(
                            LockLostException.class,
                            e -> assertThat(e.loss().cause()).isEqualTo(Loss.Cause.LEASE_ENDED));
            assertThatThrownBy(hold::close).isInstanceOf(LockLostException.class);
        }

        @Test
        @DisplayName("is refused, however it is requested, if the store has no fixed leases")
        void noFixedLeases() {
            LockStore plain = new ForwardingStore(link) {
                @Override
                public StoreTraits traits() {
                    return super.traits().toBuilder()
                            .fixedLease(StoreTraits.FixedLease.NONE)
                            .build();
                }
            };
            DistributedLock other = world.client(Holdfast.builder(plain).environment(world.time()))
                    .lock("other");
            assertThatThrownBy(() -> other.acquire(tenSeconds))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("fixed leases");
            assertThatThrownBy(() -> other.tryAcquire(tenSeconds))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("fixed leases");
            assertThat(other.acquireAsync(tenSeconds))
                    .failsWithin(Duration.ofMinutes(1))
                    .withThrowableOfType(ExecutionException.class)
                    .withCauseInstanceOf(IllegalArgumentException.class)
                    .withMessageContaining("fixed leases");
        }

        @Test
        @DisplayName("ends when a maximum hold time is over")
        void maxHoldEnds() throws InterruptedException {
            List<Loss> told = new CopyOnWriteArrayList<>();
            Hold hold = lock.acquire(AcquireOptions.defaults().withMaxHold(Duration.ofMinutes(10)));
            hold.onLost(told::add);
            assertThat(hold.effectiveLease()).isEqualTo(Duration.ofSeconds(30));

            world.advance(Duration.ofMinutes(8));
            assertThat(hold.isHeld()).isTrue();
            world.advance(Duration.ofMinutes(2));

            assertThat(hold.isHeld()).isFalse();
            assertThat(told).extracting(Loss::cause).containsExactly(Loss.Cause.LEASE_ENDED);
            assertThatThrownBy(hold::close).isInstanceOf(LockLostException.class);
        }

        @Test
        @DisplayName("can be extended before it is over")
        void extended() throws InterruptedException {
            Hold hold = lock.acquire(tenSeconds);
            for (int i = 0; i < 20; i++) {
                world.advance(Duration.ofSeconds(8));
                hold.extend(Duration.ofSeconds(10));
                assertThat(hold.remaining()).isEqualTo(Duration.ofSeconds(9));
            }
            assertThat(hold.isHeld()).isTrue();
            hold.close();
        }

        @Test
        @DisplayName("has one timer for its end, however often it is extended")
        void timers() throws InterruptedException {
            Hold hold = lock.acquire(AcquireOptions.defaults().withFixedLease(Duration.ofMinutes(1)));
            int timers = world.time().timers();
            for (int i = 0; i < 10; i++) {
                hold.extend(Duration.ofMinutes(1));
            }
            assertThat(world.time().timers()).isEqualTo(timers);
            hold.close();
            assertThat(world.time().timers()).isLessThan(timers);
        }

        @Test
        @DisplayName("is not lengthened by the answer to a poll that was sent before it was shortened")
        @Tag("C1")
        void pollFromBefore() throws InterruptedException {
            Hold hold = lock.acquire(AcquireOptions.defaults().withDetachedLease(Duration.ofHours(1)));
            FaultyLink.HeldUp poll = link.holdUpNext(Command.Poll.class);
            // It is polled once per ttl.
            world.advance(Duration.ofSeconds(34));
            assertThat(link.sent(Command.Poll.class)).hasSize(1);
            Reply before = poll.deliver();
            hold.extend(Duration.ofSeconds(10));

            poll.answer(before);

            assertThat(hold.remaining()).isEqualTo(Duration.ofSeconds(9));
            hold.close();
        }

        @Test
        @DisplayName(
                "is shortened by the answer to a poll that was sent before an extension if the store has less left")
        @Tag("C1")
        void lessLeft() throws InterruptedException {
            Hold hold = lock.acquire(AcquireOptions.defaults().withDetachedLease(Duration.ofHours(1)));
            FaultyLink.HeldUp poll = link.holdUpNext(Command.Poll.class);
            // It is polled once per ttl.
            world.advance(Duration.ofSeconds(34));
            Reply.Polled before = (Reply.Polled) poll.deliver();
            Reply.Granted granted = (Reply.Granted) before.states().get(0);
            hold.extend(Duration.ofHours(2));

            poll.answer(new Reply.Polled(
                    List.of(new Reply.Granted(granted.tokens(), Optional.of(Duration.ofHours(1)), granted.awaited()))));

            assertThat(hold.remaining()).isBetween(Duration.ofMinutes(30), Duration.ofHours(1));
            hold.close();
        }

        @Test
        @DisplayName("can be extended through a nested handle")
        void extendedThroughNestedHandle() throws InterruptedException {
            Hold hold = lock.acquire(tenSeconds);
            try (Hold nested = lock.acquire()) {
                nested.extend(Duration.ofSeconds(20));
            }
            assertThat(hold.remaining()).isEqualTo(Duration.ofSeconds(18));
            hold.close();
        }

        @Test
        @DisplayName("can be shortened; the loss is told at the new end, not at the old one")
        void shortened() throws InterruptedException {
            List<Loss> told = new CopyOnWriteArrayList<>();
            Hold hold = lock.acquire(AcquireOptions.defaults().withFixedLease(Duration.ofHours(1)));
            hold.onLost(told::add);

            hold.extend(Duration.ofSeconds(1));
            assertThat(hold.remaining()).isEqualTo(Duration.ofMillis(900));
            assertThat(hold.effectiveLease()).isEqualTo(Duration.ofSeconds(1));
            world.advance(Duration.ofMillis(900));

            assertThat(told).extracting(Loss::cause).containsExactly(Loss.Cause.LEASE_ENDED);
            assertThatThrownBy(hold::close).isInstanceOf(LockLostException.class);
        }

        @Test
        @DisplayName("can be extended to the longest lease, and shortened to the shortest")
        void longestAndShortest() throws InterruptedException {
            Hold hold = lock.acquire(tenSeconds);
            hold.extend(Command.MAX_DURATION);
            assertThat(hold.effectiveLease()).isEqualTo(Duration.ofSeconds(30));
            hold.extend(Duration.ofMillis(200));
            assertThat(hold.effectiveLease()).isEqualTo(Duration.ofMillis(200));
            hold.close();
        }

        @Test
        @DisplayName("is shortened when the request is sent, whatever becomes of its answer")
        void shortenedWithoutAnAnswer() throws Exception {
            List<Loss> losses = new CopyOnWriteArrayList<>();
            Hold hold = lock.acquire(tenSeconds);
            hold.onLost(losses::add);
            FaultyLink.HeldUp request = link.holdUpNext(Command.Extend.class);
            var shortening = startExtending(hold, Duration.ofSeconds(1));
            request.awaitCommand();
            assertThat(hold.remaining()).isEqualTo(Duration.ofMillis(900));
            world.advance(Duration.ofMillis(900));
            assertThat(losses).extracting(Loss::cause).containsExactly(Loss.Cause.LEASE_ENDED);

            request.proceed();
            assertThatThrownBy(shortening::result).isInstanceOf(LockLostException.class);
            assertThatThrownBy(hold::close).isInstanceOf(LockLostException.class);
        }

        @Test
        @DisplayName("is not prolonged by the late answer to an extension that a shorter one has replaced")
        void replacedExtension() throws Exception {
            Hold hold = lock.acquire(tenSeconds);
            FaultyLink.HeldUp longer = link.holdUpNext(Command.Extend.class);
            var extending = startExtending(hold, Duration.ofHours(1));
            Reply late = longer.deliver();
            hold.extend(Duration.ofSeconds(1));

            longer.answer(late);

            assertThat(extending.result()).isTrue();
            assertThat(hold.remaining()).isEqualTo(Duration.ofMillis(900));
            hold.close();
        }

        @Test
        @DisplayName("is lost if the store does not know it when it is to be extended")
        void extendedAfterRemoval() throws InterruptedException {
            link.loseSignals();
            Hold hold = lock.acquire(tenSeconds);
            world.releaseByForce("ledger");
            assertThat(hold.isHeld()).isTrue();

            assertThatThrownBy(() -> hold.extend(Duration.ofSeconds(20)))
                    .isInstanceOfSatisfying(
                            LockLostException.class,
                            e -> assertThat(e.loss().cause()).isEqualTo(Loss.Cause.REMOVED));
            assertThat(hold.isHeld()).isFalse();
            assertThatThrownBy(hold::close).isInstanceOf(LockLostException.class);
        }

        @Test
        @DisplayName("that is put in doubt while it is extended is out of doubt when that returns")
        void doubtWhileExtended() throws Exception {
            Hold hold = lock.acquire(tenSeconds);
            FaultyLink.HeldUp request = link.holdUpNext(Command.Extend.class);
            var extending = startExtending(hold, Duration.ofSeconds(20));
            request.awaitCommand();
            FaultyLink.HeldUp keepAlive = link.holdUpNext(Command.KeepAlive.class);
            world.time().stepWall(Duration.ofHours(1));
            request.proceed();
            keepAlive.awaitCommand();
            world.advance(Duration.ofMillis(1));
            assertThat(extending.isDone()).isFalse();

            keepAlive.proceed();
            assertThat(extending.result()).isTrue();
            assertThat(hold.isHeld()).isTrue();
            hold.close();
        }

        private Doing<Boolean> startExtending(Hold hold, Duration lease) {
            return world.actor("extender").start(() -> {
                hold.extend(lease);
                return true;
            });
        }

        @Test
        @DisplayName("can't be extended when it is over, by a lease out of range, or when it has none")
        void refusedExtensions() throws InterruptedException {
            Hold renewed = holdfast.lock("renewed").acquire();
            Hold bounded =
                    holdfast.lock("bounded").acquire(AcquireOptions.defaults().withMaxHold(Duration.ofMinutes(1)));
            Hold fixed = lock.acquire(tenSeconds);

            assertThatThrownBy(() -> renewed.extend(Duration.ofSeconds(10))).isInstanceOf(IllegalStateException.class);
            assertThatThrownBy(() -> bounded.extend(Duration.ofHours(1))).isInstanceOf(IllegalStateException.class);
            List<Duration> outOfRange = new ArrayList<>(List.of(
                    Duration.ZERO,
                    Duration.ofSeconds(-1),
                    Duration.ofNanos(1),
                    Duration.ofMillis(200).minusNanos(1),
                    Duration.ofDays(36_526),
                    Duration.ofSeconds(Long.MAX_VALUE)));
            for (Duration lease : outOfRange) {
                assertThatThrownBy(() -> fixed.extend(lease)).isInstanceOf(IllegalArgumentException.class);
            }
            assertThat(fixed.isHeld()).isTrue();

            world.advance(Duration.ofSeconds(10));
            assertThatThrownBy(() -> fixed.extend(Duration.ofSeconds(10))).isInstanceOf(LockLostException.class);
            assertThat(link.sent(Command.Extend.class)).isEmpty();
            assertThatThrownBy(fixed::close).isInstanceOf(LockLostException.class);
            renewed.close();
            bounded.close();
        }

        @Test
        @DisplayName("is not passed on within the process: who waits gets a lease of its own, from the store")
        @Tag("C8")
        void notPassedOn() throws Exception {
            Actor bob = world.actor("bob");
            Hold hold = lock.acquire(tenSeconds);
            var waiting = bob.startWaiting(() -> lock.acquire());
            world.advance(Duration.ofSeconds(5));

            hold.close();

            Hold theirs = waiting.result();
            assertThat(theirs.effectiveLease()).isEqualTo(Duration.ofSeconds(30));
            world.advance(Duration.ofMinutes(1));
            assertThat(theirs.isHeld()).isTrue();
            bob.run(theirs::close);
        }

        @Test
        @DisplayName("begins when it is granted, however long it was waited for")
        void beginsWithTheGrant() throws Exception {
            Actor bob = world.actor("bob");
            DistributedLock theirs = world.client("bob").lock("ledger");
            Hold first = lock.acquire();
            var waiting = bob.startWaiting(() -> theirs.acquire(tenSeconds));
            world.advance(Duration.ofMinutes(1));

            first.close();

            Hold hold = waiting.result();
            assertThat(hold.remaining()).isEqualTo(Duration.ofSeconds(9));
            bob.run(hold::close);
        }
    }
}
