package dev.holdfast.verification.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.AcquireOptions;
import dev.holdfast.DistributedSemaphore;
import dev.holdfast.Hold;
import dev.holdfast.Holdfast;
import dev.holdfast.LockLostException;
import dev.holdfast.Loss;
import dev.holdfast.Permits;
import dev.holdfast.ReleaseOutcome;
import dev.holdfast.StoreUnavailableException;
import dev.holdfast.spi.ClaimRef;
import dev.holdfast.spi.Command;
import dev.holdfast.spi.StoreException.Effect;
import dev.holdfast.spi.StoreException.Reason;
import dev.holdfast.verification.world.Actor;
import dev.holdfast.verification.world.Eventually;
import dev.holdfast.verification.world.FaultyLink;
import dev.holdfast.verification.world.HolderThread;
import dev.holdfast.verification.world.World;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@DisplayName("Permits that expire, and permits that are named")
class SemaphoreLeaseTest {

    private static final Duration MINUTE = Duration.ofMinutes(1);
    private static final AcquireOptions FIXED = AcquireOptions.defaults().withFixedLease(MINUTE);
    private static final AcquireOptions DETACHED = AcquireOptions.defaults().withDetachedLease(MINUTE);

    @AutoClose
    private final World world = World.still();

    private final FaultyLink link = world.link();
    private final Holdfast alice = world.client("alice", link);
    private final DistributedSemaphore here = alice.semaphore("gpu", 10);
    private final DistributedSemaphore there = world.client("bob").semaphore("gpu", 10);
    private final List<Loss.Cause> told = new CopyOnWriteArrayList<>();

    @Nested
    @DisplayName("a fixed lease")
    @Tag("P5")
    class Fixed {

        @Test
        @DisplayName("ends however healthy the client is; its owner is told before others get the permits")
        void ends() throws Exception {
            Permits permits = here.acquire(6, FIXED);
            permits.onLost(loss -> told.add(loss.cause()));
            assertThat(permits.effectiveLease()).isEqualTo(Duration.ofSeconds(30));
            HolderThread<Permits> next = HolderThread.waiting(world, "next", () -> there.acquire(5));
            world.advance(Duration.ofSeconds(54).minusNanos(1));
            assertThat(permits.isHeld()).isTrue();
            world.advance(Duration.ofNanos(1));
            assertThat(permits.isHeld()).isFalse();
            assertThat(told).containsExactly(Loss.Cause.LEASE_ENDED);
            assertThat(next.isWaiting()).isTrue();

            world.advance(Duration.ofSeconds(10));

            next.release();
            assertThatThrownBy(permits::close).isInstanceOf(LockLostException.class);
        }

        @Test
        @DisplayName("is extended, alone among those of its client")
        void extended() throws Exception {
            Permits extended = here.acquire(1, FIXED);
            Permits other = here.acquire(1, FIXED);
            Permits renewed = here.acquire(1);
            world.advance(Duration.ofSeconds(50));
            extended.extend(MINUTE);
            world.advance(Duration.ofSeconds(50));
            assertThat(extended.isHeld()).isTrue();
            assertThat(other.isHeld()).isFalse();
            assertThat(renewed.isHeld()).isTrue();
            assertThatThrownBy(() -> renewed.extend(MINUTE)).isInstanceOf(IllegalStateException.class);
            extended.close();
            renewed.close();
            assertThat(other.releaseAsync().toCompletableFuture().join()).isEqualTo(ReleaseOutcome.LOST);
        }

        @Test
        @DisplayName("is never passed on in memory")
        void notPassedOn() throws Exception {
            Permits first = here.acquire(10, FIXED);
            HolderThread<Permits> second = HolderThread.waiting(world, "second", () -> here.acquire(10));
            first.close();
            second.awaitGrant();
            world.advance(Duration.ofMinutes(5));
            assertThat(second.awaitGrant().isHeld()).isTrue();
            second.release();
        }
    }

    @Nested
    @DisplayName("a detached lease")
    @Tag("P5")
    class Detached {

        @Test
        @DisplayName("outlives its client, closed or cut off, and ends after its time")
        void outlivesTheClient() throws Exception {
            Permits detached = here.acquire(6, DETACHED);
            assertThat(detached.effectiveLease()).isEqualTo(MINUTE);
            alice.close();

            assertThat(there.availablePermits()).isEqualTo(4);
            world.advance(Duration.ofSeconds(55));
            assertThat(there.availablePermits()).isEqualTo(4);
            world.advance(Duration.ofSeconds(5));
            assertThat(there.availablePermits()).isEqualTo(10);
        }

        @Test
        @DisplayName("outlives its session: the owner goes on holding it, and gives it back under the next")
        void outlivesTheSession() throws Exception {
            Permits detached = here.acquire(6, AcquireOptions.defaults().withDetachedLease(Duration.ofHours(1)));
            Permits renewed = here.acquire(1);
            detached.onLost(loss -> told.add(loss.cause()));
            link.fail(Command.KeepAlive.class, Reason.UNAVAILABLE, Effect.NONE);
            world.advance(Duration.ofSeconds(40));
            assertThat(renewed.isHeld()).isFalse();
            assertThat(detached.isHeld()).isTrue();
            link.mend();
            Permits next = here.acquire(4);

            assertThat(told).isEmpty();
            assertThat(detached.isHeld()).isTrue();
            detached.extend(Duration.ofHours(2));
            world.advance(Duration.ofMinutes(90));
            assertThat(detached.isHeld()).isTrue();
            detached.close();
            assertThat(here.availablePermits()).isEqualTo(6);
            next.close();
            assertThatThrownBy(renewed::close).isInstanceOf(LockLostException.class);
        }

        @Test
        @DisplayName("is found within a ttl to be removed, also when its session is over and no signal comes")
        void removedInSilence() throws Exception {
            Permits detached = here.acquire(6, AcquireOptions.defaults().withDetachedLease(Duration.ofHours(1)));
            detached.onLost(loss -> told.add(loss.cause()));
            link.fail(Command.KeepAlive.class, Reason.UNAVAILABLE, Effect.NONE);
            world.advance(Duration.ofSeconds(100));
            link.mend();
            link.loseSignals();
            assertThat(there.release(detached.permitId())).isTrue();
            assertThat(detached.isHeld()).isTrue();

            world.advance(Duration.ofSeconds(40));
            assertThat(detached.isHeld()).isFalse();
            assertThat(told).containsExactly(Loss.Cause.REMOVED);
            assertThatThrownBy(detached::close).isInstanceOf(LockLostException.class);
        }

        @Test
        @DisplayName("its release is repeated until the store answers, also when its session is long over")
        @Tag("C13")
        void releaseIsRepeated() throws Exception {
            Permits detached = here.acquire(6, AcquireOptions.defaults().withDetachedLease(Duration.ofHours(1)));
            link.fail(Command.KeepAlive.class, Reason.UNAVAILABLE, Effect.NONE);
            world.advance(Duration.ofSeconds(100));
            link.mend();
            link.fail(Command.Release.class, Reason.UNAVAILABLE, Effect.NONE);
            var ending = detached.releaseAsync().toCompletableFuture();
            world.advance(Duration.ofSeconds(100));
            assertThat(ending.join()).isEqualTo(ReleaseOutcome.UNCONFIRMED);
            assertThat(there.availablePermits()).isEqualTo(4);

            link.mend();
            world.advance(Duration.ofSeconds(10));

            assertThat(there.availablePermits()).isEqualTo(10);
        }

        @Test
        @DisplayName("its release is repeated for as long as an unanswered extension may have made it last")
        @Tag("C13")
        void releaseIsRepeatedAfterAnExtension() throws Exception {
            Permits detached = here.acquire(6, AcquireOptions.defaults().withDetachedLease(Duration.ofSeconds(1)));
            link.loseReplyToNext(Command.Extend.class);
            link.cutFor(Command.Extend.class::isInstance);
            var extending = world.actor("extender").start(() -> {
                detached.extend(Duration.ofHours(1));
                return true;
            });
            Eventually.holds(
                    "the store has extended it",
                    () -> world.recordOf("gpu")
                                    .orElseThrow()
                                    .holders()
                                    .get(0)
                                    .remaining()
                                    .compareTo(MINUTE)
                            > 0);
            link.fail(Command.Release.class, Reason.UNAVAILABLE, Effect.NONE);
            link.fail(Command.KeepAlive.class, Reason.UNAVAILABLE, Effect.NONE);
            var ending = detached.releaseAsync().toCompletableFuture();
            world.advance(Duration.ofMinutes(10));
            assertThat(ending).isDone();
            assertThatThrownBy(extending::result).isInstanceOf(StoreUnavailableException.class);
            assertThat(there.availablePermits()).isEqualTo(4);

            link.mend();
            world.advance(Duration.ofSeconds(10));

            assertThat(there.availablePermits()).isEqualTo(10);
        }

        @Test
        @DisplayName("its release is repeated until an extension is over that came long after its session")
        @Tag("C13")
        void releaseIsRepeatedLongAfterTheSession() throws Exception {
            Permits detached = here.acquire(6, AcquireOptions.defaults().withDetachedLease(Duration.ofHours(1)));
            link.fail(Command.KeepAlive.class, Reason.UNAVAILABLE, Effect.NONE);
            world.advance(Duration.ofMinutes(50));
            link.mend();
            detached.extend(Duration.ofHours(1));
            world.advance(Duration.ofMinutes(40));
            link.fail(Command.Release.class, Reason.UNAVAILABLE, Effect.NONE);
            var ending = detached.releaseAsync().toCompletableFuture();
            world.advance(Duration.ofMinutes(10));
            assertThat(ending).isDone();
            assertThat(there.availablePermits()).isEqualTo(4);

            link.mend();
            world.advance(Duration.ofSeconds(10));

            assertThat(there.availablePermits()).isEqualTo(10);
        }

        @Test
        @DisplayName("its release is not confirmed by the closing of its client, which ends only what the session held")
        @Tag("C13")
        void releaseIsNotConfirmedByTheClose() throws Exception {
            Permits detached = here.acquire(6, DETACHED);
            link.fail(Command.Release.class, Reason.UNAVAILABLE, Effect.NONE);
            var ending = detached.releaseAsync().toCompletableFuture();

            alice.close();
            world.advance(Duration.ofSeconds(10));

            assertThat(ending.join()).isEqualTo(ReleaseOutcome.UNCONFIRMED);
            assertThat(there.availablePermits()).isEqualTo(4);
            world.advance(MINUTE);
            assertThat(there.availablePermits()).isEqualTo(10);
        }

        @Test
        @DisplayName("of a lock outlives the thread that acquired it")
        void outlivesTheThread() throws Exception {
            Actor owner = world.actor("owner");
            Hold hold = owner.call(() -> alice.lock("job").acquire(DETACHED));
            hold.onLost(loss -> told.add(loss.cause()));
            owner.die();
            world.advance(Duration.ofSeconds(50));
            assertThat(hold.isHeld()).isTrue();
            assertThat(world.holderOf("job")).contains("alice");
            assertThat(told).isEmpty();
            world.advance(Duration.ofSeconds(30));
            assertThat(told).containsExactly(Loss.Cause.LEASE_ENDED);
            assertThat(world.holderOf("job")).isEmpty();
        }

        @Test
        @DisplayName("one that still waits goes with its client")
        void waiting() throws Exception {
            Permits all = there.acquire(10);
            var asked = here.acquireAsync(3, DETACHED).toCompletableFuture();
            assertThat(world.waitersOf("gpu")).isEqualTo(1);
            alice.close();
            world.time().settle();
            assertThat(asked).isCompletedExceptionally();
            all.close();
            assertThat(there.availablePermits()).isEqualTo(10);
        }
    }

    @Nested
    @DisplayName("an id")
    class Id {

        @Test
        @DisplayName("gives them back from any client, once; the owner learns it when it lets go")
        @Tag("P5")
        void fromAnyClient() throws Exception {
            Permits three = here.acquire(3);
            Permits two = here.acquire(2);
            String id = three.permitId();
            assertThat(id).isEqualTo(three.permitId()).matches("[!-~]+").isNotEqualTo(two.permitId());

            assertThat(there.release(id)).isTrue();
            assertThat(there.release(id)).isFalse();
            assertThat(here.release(id)).isFalse();

            assertThat(here.availablePermits()).isEqualTo(8);
            assertThat(two.isHeld()).isTrue();
            assertThatThrownBy(three::close).isInstanceOf(LockLostException.class);
            two.close();
        }

        @Test
        @DisplayName("also from the client that has them; and the owner learns it in two ttls, if it keeps them")
        @Tag("P5")
        void fromTheSameClient() throws Exception {
            Permits three = here.acquire(3);
            three.onLost(loss -> told.add(loss.cause()));
            assertThat(here.release(three.permitId())).isTrue();
            assertThat(here.availablePermits()).isEqualTo(10);

            world.advance(MINUTE);

            assertThat(told).containsExactly(Loss.Cause.REMOVED);
            assertThat(three.isHeld()).isFalse();
            assertThatThrownBy(three::close).isInstanceOf(LockLostException.class);
        }

        @Test
        @DisplayName("of a client that has died, within its lease, is how another finishes its work")
        @Tag("P5")
        void ofAnotherProcess() throws Exception {
            String id = here.acquire(6, DETACHED).permitId();
            alice.close();
            assertThat(there.availablePermits()).isEqualTo(4);

            assertThat(there.release(id)).isTrue();

            assertThat(there.availablePermits()).isEqualTo(10);
            assertThat(there.release(id)).isFalse();
        }

        @Test
        @DisplayName("never names what another thread has now, though it waited for as many")
        @Tag("P5")
        void neverNamesAnother() throws Exception {
            Permits first = here.acquire(10);
            String id = first.permitId();
            HolderThread<Permits> second = HolderThread.waiting(world, "second", () -> here.acquire(10));
            first.close();
            second.awaitGrant();

            assertThat(there.release(id)).isFalse();

            assertThat(there.availablePermits()).isZero();
            assertThat(first.permitId()).isEqualTo(id);
            assertThat(second.awaitGrant().permitId()).isNotEqualTo(id);
            second.release();
        }

        @Test
        @DisplayName("of permits that were given back unnamed is not told any more")
        @Tag("P5")
        void tooLate() throws Exception {
            Permits permits = here.acquire();
            permits.close();
            assertThatThrownBy(permits::permitId).isInstanceOf(IllegalStateException.class);
        }

        @Test
        @DisplayName("of another semaphore frees nothing")
        @Tag("P5")
        void foreign() throws Exception {
            Permits permits = alice.semaphore("cpu", 10).acquire(4);
            assertThat(here.release(permits.permitId())).isFalse();
            assertThat(there.release(permits.permitId())).isFalse();
            assertThat(permits.isHeld()).isTrue();
            permits.close();
        }

        @Test
        @DisplayName("of a waiting claim frees nothing")
        @Tag("P5")
        void ofAWaitingClaim() throws Exception {
            Permits all = there.acquire(10);
            HolderThread<Permits> waiter = HolderThread.waiting(world, "waiter", () -> here.acquire(2));
            ClaimRef claim =
                    world.recordOf("gpu").orElseThrow().waiters().get(0).claim();
            assertThat(there.release(claim.claim() + "@" + claim.session().value()))
                    .isFalse();
            assertThat(waiter.isWaiting()).isTrue();
            all.close();
            waiter.release();
        }

        @ParameterizedTest
        @ValueSource(
                strings = {
                    "",
                    "@",
                    "1",
                    "1@",
                    "@x",
                    "x@y",
                    "-1@m1",
                    "0@m1",
                    "1.5@m1",
                    "99999999999999999999@m1",
                    " 1@m1",
                    "1 @m1",
                    "1@m\u00e4"
                })
        @DisplayName("that makes no sense is an error, and the store is not asked")
        @Tag("P6")
        void malformed(String id) {
            link.forget();
            assertThatThrownBy(() -> here.release(id))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("id");
            assertThat(link.sent()).isEmpty();
        }

        @Test
        @DisplayName("that nobody has ever had is answered with no")
        @Tag("P5")
        void unknown() throws StoreUnavailableException {
            assertThat(here.release("7@nobody")).isFalse();
            assertThat(here.release("9223372036854775807@7@7")).isFalse();
        }
    }
}
