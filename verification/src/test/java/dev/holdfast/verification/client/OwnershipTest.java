package dev.holdfast.verification.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.AcquireOptions;
import dev.holdfast.DistributedLock;
import dev.holdfast.Hold;
import dev.holdfast.Holdfast;
import dev.holdfast.LockLostException;
import dev.holdfast.NotOwnerException;
import dev.holdfast.ReleaseOutcome;
import dev.holdfast.verification.world.Actor;
import dev.holdfast.verification.world.World;
import java.time.Duration;
import java.util.concurrent.CompletionStage;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@DisplayName("A lock belongs to the thread that acquired it")
class OwnershipTest {

    @AutoClose
    private final World world = World.live();

    private final Holdfast holdfast = world.client("alice");
    private final DistributedLock lock = holdfast.lock("ledger");

    @Nested
    @DisplayName("The owner may acquire it again")
    @Tag("C4")
    class Reentrancy {

        @Test
        @DisplayName("with the same token, and the resource is free after as many releases")
        void sameTokenAndAsManyReleases() throws InterruptedException {
            Hold outer = lock.acquire();
            Hold inner = lock.acquire();
            Hold innermost = lock.acquire(Duration.ZERO);

            assertThat(lock.holdCount()).isEqualTo(3);
            assertThat(inner.fencingToken()).isEqualTo(outer.fencingToken());
            assertThat(innermost.fencingToken()).isEqualTo(outer.fencingToken());

            innermost.close();
            inner.close();
            assertThat(lock.holdCount()).isEqualTo(1);
            assertThat(outer.isHeld()).isTrue();
            assertThat(world.holderOf("ledger")).contains("alice");

            outer.close();
            assertThat(lock.holdCount()).isZero();
            assertThat(lock.isHeldByCurrentThread()).isFalse();
            assertThat(world.holderOf("ledger")).isEmpty();
        }

        @Test
        @DisplayName("in every way there is, mixed")
        void everyWayMixed() throws InterruptedException {
            lock.lock();
            lock.lockInterruptibly();
            assertThat(lock.tryLock()).isTrue();
            assertThat(lock.tryLock(1, java.util.concurrent.TimeUnit.SECONDS)).isTrue();
            Hold one = lock.tryAcquire().orElseThrow();
            Hold two = lock.tryAcquire(Duration.ofSeconds(1)).orElseThrow();
            Hold three = lock.acquire(AcquireOptions.defaults());
            assertThat(lock.holdCount()).isEqualTo(7);

            one.close();
            lock.unlock();
            three.close();
            lock.unlock();
            two.close();
            lock.unlock();
            assertThat(lock.holdCount()).isEqualTo(1);
            assertThat(lock.isHeldByCurrentThread()).isTrue();

            lock.unlock();
            assertThat(lock.holdCount()).isZero();
            assertThat(world.holderOf("ledger")).isEmpty();
        }

        @Test
        @DisplayName("through another lock object of the same name")
        void otherLockObject() {
            DistributedLock same = holdfast.lock("ledger");
            lock.lock();
            same.lock();

            assertThat(lock.holdCount()).isEqualTo(2);
            lock.unlock();
            assertThat(same.isHeldByCurrentThread()).isTrue();
            same.unlock();
            assertThat(same.isHeldByCurrentThread()).isFalse();
        }

        @Test
        @DisplayName("and the outer handle may be closed before the inner one")
        void outerClosedFirst() throws InterruptedException {
            Hold outer = lock.acquire();
            Hold inner = lock.acquire();
            long token = inner.fencingToken();

            outer.close();
            assertThat(outer.isHeld()).isFalse();
            assertThat(inner.isHeld()).isTrue();
            assertThat(inner.fencingToken()).isEqualTo(token);
            assertThat(world.holderOf("ledger")).contains("alice");

            inner.close();
            assertThat(world.holderOf("ledger")).isEmpty();
        }

        @Test
        @DisplayName("without the store being asked")
        void withoutTheStore() throws InterruptedException {
            var link = world.link();
            DistributedLock quiet = world.client("bob", link).lock("quiet");
            try (Hold outer = quiet.acquire()) {
                link.forget();
                try (Hold inner = quiet.acquire()) {
                    assertThat(inner.isHeld()).isTrue();
                    assertThat(inner.remaining()).isPositive();
                }
                assertThat(link.sent()).isEmpty();
                assertThat(outer.isHeld()).isTrue();
            }
        }

        @Test
        @DisplayName("but not with another lease: that would change the outer hold")
        void notWithAnotherLease() throws InterruptedException {
            try (Hold outer = lock.acquire()) {
                Duration before = outer.effectiveLease();
                AcquireOptions fixed = AcquireOptions.defaults().withFixedLease(Duration.ofSeconds(1));
                AcquireOptions bounded = AcquireOptions.defaults().withMaxHold(Duration.ofSeconds(1));

                assertThatThrownBy(() -> lock.acquire(fixed)).isInstanceOf(IllegalStateException.class);
                assertThatThrownBy(() -> lock.tryAcquire(bounded)).isInstanceOf(IllegalStateException.class);
                assertThat(lock.holdCount()).isEqualTo(1);
                assertThat(outer.effectiveLease()).isEqualTo(before);
            }
        }
    }

    @Nested
    @DisplayName("Nobody else can release it")
    @Tag("C6")
    class ReleaseByOthers {

        @Test
        @DisplayName("not another thread, by unlock or by the handle; nothing changes")
        void otherThread() throws Exception {
            Actor bob = world.actor("bob");
            Hold hold = lock.acquire();

            assertThatThrownBy(() -> bob.run(lock::unlock))
                    .isInstanceOf(NotOwnerException.class)
                    .isInstanceOf(IllegalMonitorStateException.class)
                    .hasMessageContaining("ledger")
                    .hasMessageContaining("bob");
            assertThatThrownBy(() -> bob.run(hold::close)).isInstanceOf(NotOwnerException.class);
            assertThatThrownBy(() -> bob.call(hold::releaseAsync)).isInstanceOf(NotOwnerException.class);

            assertThat(bob.<Boolean>call(lock::isHeldByCurrentThread)).isFalse();
            assertThat(bob.<Integer>call(lock::holdCount)).isZero();
            assertThat(hold.isHeld()).isTrue();
            assertThat(lock.holdCount()).isEqualTo(1);
            hold.close();
        }

        @Test
        @DisplayName("not another thread by the handle of a nested acquisition")
        void otherThreadNested() throws Exception {
            Actor bob = world.actor("bob");
            Hold outer = lock.acquire();
            Hold inner = lock.acquire();

            assertThatThrownBy(() -> bob.run(inner::close)).isInstanceOf(NotOwnerException.class);
            assertThatThrownBy(() -> bob.run(outer::close)).isInstanceOf(NotOwnerException.class);

            assertThat(lock.holdCount()).isEqualTo(2);
            inner.close();
            outer.close();
        }

        @Test
        @DisplayName("not another client, though it is in the same thread")
        void otherClient() throws InterruptedException {
            DistributedLock theirs = world.client("bob").lock("ledger");
            Hold hold = lock.acquire();

            assertThatThrownBy(theirs::unlock).isInstanceOf(NotOwnerException.class);
            assertThat(theirs.isHeldByCurrentThread()).isFalse();
            assertThat(theirs.tryAcquire()).isEmpty();

            assertThat(hold.isHeld()).isTrue();
            assertThat(world.holderOf("ledger")).contains("alice");
            hold.close();
        }

        @Test
        @DisplayName("not the owner itself a second time; the next owner keeps it")
        void twice() throws Exception {
            Actor bob = world.actor("bob");
            lock.lock();
            lock.unlock();
            Hold theirs = bob.call(lock::acquire);

            assertThatThrownBy(lock::unlock).isInstanceOf(NotOwnerException.class);

            assertThat(theirs.isHeld()).isTrue();
            assertThat(world.holderOf("ledger")).contains("alice");
            bob.run(theirs::close);
        }

        @Test
        @DisplayName("not by a nested handle after the hold has ended, and what the thread acquired since stays")
        void nestedHandleOfAnEarlierHold() throws InterruptedException {
            Hold old = lock.acquire();
            Hold nested = lock.acquire();
            lock.unlock();
            lock.unlock();
            Hold fresh = lock.acquire();

            assertThatThrownBy(nested::close).isInstanceOf(NotOwnerException.class);
            old.close();

            assertThat(fresh.isHeld()).isTrue();
            assertThat(lock.holdCount()).isEqualTo(1);
            fresh.close();
        }

        @Test
        @DisplayName("a second close of a handle does nothing, whoever holds the lock by then")
        void secondClose() throws Exception {
            Actor bob = world.actor("bob");
            Hold hold = lock.acquire();
            hold.close();
            Hold theirs = bob.call(lock::acquire);

            hold.close();

            assertThat(theirs.isHeld()).isTrue();
            bob.run(theirs::close);
        }

        @Test
        @DisplayName("after the loss the owner is told of it, once, and the next owner keeps the lock")
        void afterTheLoss() throws Exception {
            Hold lost = lock.acquire();
            world.releaseByForce("ledger");
            DistributedLock theirs = world.client("bob").lock("ledger");
            Hold next = theirs.acquire();

            assertThatThrownBy(lock::unlock).isInstanceOf(LockLostException.class);
            assertThatThrownBy(lock::unlock).isInstanceOf(NotOwnerException.class);
            lost.close();

            assertThat(next.isHeld()).isTrue();
            assertThat(world.holderOf("ledger")).contains("bob");
            next.close();
        }
    }

    @Test
    @DisplayName("An inner release tells that the resource is still held")
    void innerReleaseOutcome() throws Exception {
        Hold outer = lock.acquire();
        Hold inner = lock.acquire();

        assertThat(outcome(inner.releaseAsync())).isEqualTo(ReleaseOutcome.STILL_HELD);
        assertThat(outcome(inner.releaseAsync())).isEqualTo(ReleaseOutcome.STILL_HELD);
        assertThat(lock.holdCount()).isEqualTo(1);
        assertThat(outcome(outer.releaseAsync())).isEqualTo(ReleaseOutcome.RELEASED);
        assertThat(outcome(outer.releaseAsync())).isEqualTo(ReleaseOutcome.RELEASED);
        assertThat(world.holderOf("ledger")).isEmpty();
    }

    private static ReleaseOutcome outcome(CompletionStage<ReleaseOutcome> stage) throws Exception {
        return stage.toCompletableFuture().get(60, java.util.concurrent.TimeUnit.SECONDS);
    }
}
