package dev.holdfast.verification.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.AcquireOptions;
import dev.holdfast.DistributedLock;
import dev.holdfast.Hold;
import dev.holdfast.LockLostException;
import dev.holdfast.Loss;
import dev.holdfast.verification.world.Actor;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
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
