package dev.holdfast.verification.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.AcquireOptions;
import dev.holdfast.ClientClosedException;
import dev.holdfast.DistributedSemaphore;
import dev.holdfast.LockLostException;
import dev.holdfast.LockOptions;
import dev.holdfast.Loss;
import dev.holdfast.Permits;
import dev.holdfast.spi.Command;
import dev.holdfast.spi.StoreException.Effect;
import dev.holdfast.spi.StoreException.Reason;
import dev.holdfast.verification.world.Eventually;
import dev.holdfast.verification.world.FaultyLink;
import dev.holdfast.verification.world.HolderThread;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@DisplayName("Permits")
class SemaphoreLossTest extends SemaphoreFixture {

    @Nested
    @DisplayName("between processes")
    class Between {

        @Test
        @DisplayName("are granted in the order in which they asked, also where a later one would fit")
        @Tag("P3")
        void firstInFirstOut() throws Exception {
            Permits first = here.acquire(6);
            HolderThread<Permits> large = waiting("large", there, 8);
            DistributedSemaphore elsewhere = world.client("carol").semaphore("gpu", N);
            HolderThread<Permits> small = waiting("small", elsewhere, 1);
            assertThat(world.client("dave").semaphore("gpu", N).tryAcquire()).isEmpty();

            first.close();

            large.awaitGrant();
            small.release();
            large.release();
        }

        @Test
        @DisplayName("a barging semaphore lets those in who fit")
        @Tag("P3")
        void barging() throws Exception {
            DistributedSemaphore one = alice.semaphore("bus", N, LockOptions.barging());
            DistributedSemaphore two = bob.semaphore("bus", N, LockOptions.barging());
            DistributedSemaphore three = world.client("carol").semaphore("bus", N, LockOptions.barging());
            Permits first = one.acquire(6);
            HolderThread<Permits> large = waiting("large", two, 8);

            Permits small = three.acquire(4);

            assertThat(large.isWaiting()).isTrue();
            first.close();
            small.close();
            large.release();
        }

        @Test
        @DisplayName("no two processes wait for each other's idle permits, whatever numbers their threads want")
        @Tag("P2")
        void noDeadlock() throws Exception {
            Permits mine = here.acquire(5);
            Permits theirs = there.acquire(5);
            List<HolderThread<Permits>> askers = new ArrayList<>();
            for (int i = 0; i < 5; i++) {
                askers.add(waiting("here-" + i, here, i % 2 == 0 ? 6 : 5));
                askers.add(waiting("there-" + i, there, i % 2 == 0 ? 7 : 5));
            }
            mine.close();
            theirs.close();

            int served = 0;
            while (!askers.isEmpty()) {
                HolderThread<Permits> next = someoneGranted(askers);
                assertThat(heldAtTheStore()).isLessThanOrEqualTo(N);
                next.release();
                askers.remove(next);
                served++;
            }
            assertThat(served).isEqualTo(10);
        }

        private HolderThread<Permits> someoneGranted(List<HolderThread<Permits>> askers) {
            Eventually.holds("somebody is granted", () -> {
                world.advance(Duration.ofMillis(1));
                return askers.stream().anyMatch(asker -> !asker.isWaiting());
            });
            return askers.stream()
                    .filter(asker -> !asker.isWaiting())
                    .findFirst()
                    .orElseThrow();
        }

        @Test
        @DisplayName(
                "a process passes them on for a budget while others wait, and for another if it stood in the queue before them")
        @Tag("P3")
        @Tag("C8")
        void budget() throws Exception {
            Permits first = here.acquire(N);
            List<CompletableFuture<Permits>> queue = new ArrayList<>();
            for (int i = 0; i < 100; i++) {
                queue.add(here.acquireAsync(N, AcquireOptions.defaults()).toCompletableFuture());
            }
            HolderThread<Permits> theirs = waiting("theirs", there, N);
            first.close();
            int passedOn = 0;
            while (theirs.isWaiting() && passedOn < 50) {
                world.time().settle();
                Permits permits = queue.remove(0).getNow(null);
                assertThat(permits).isNotNull();
                world.advance(Duration.ofMillis(1));
                permits.close();
                passedOn++;
                Eventually.holds("it is passed on", () -> {
                    world.time().settle();
                    return queue.get(0).isDone() || !theirs.isWaiting();
                });
            }

            assertThat(passedOn).isBetween(10, 22);
            theirs.release();
            for (CompletableFuture<Permits> rest : queue) {
                rest.get(60, TimeUnit.SECONDS).close();
            }
        }
    }

    @Nested
    @DisplayName("that are lost")
    @Tag("P8")
    class Lost {

        private final ConcurrentLinkedQueue<Loss.Cause> told = new ConcurrentLinkedQueue<>();

        @Test
        @DisplayName("with their session: each grant is told, once, and the others may have them after the ttl")
        @Tag("C2")
        void expired() throws Exception {
            List<Permits> held = new ArrayList<>();
            for (int i = 0; i < 5; i++) {
                held.add(here.acquire(2));
                held.get(i).onLost(loss -> told.add(loss.cause()));
            }
            HolderThread<Permits> theirs = waiting("theirs", there, N);
            link.fail(Command.KeepAlive.class, Reason.UNAVAILABLE, Effect.NONE);
            world.advance(Duration.ofSeconds(27));
            assertThat(told).hasSize(5).containsOnly(Loss.Cause.EXPIRED);
            assertThat(held).noneMatch(Permits::isHeld);
            assertThat(theirs.isWaiting()).isTrue();

            link.mend();
            world.advance(Duration.ofSeconds(3));

            theirs.awaitGrant();
            for (Permits permits : held) {
                assertThatThrownBy(permits::close).isInstanceOf(LockLostException.class);
            }
            assertThat(theirs.awaitGrant().isHeld()).isTrue();
            theirs.release();
            assertThat(told).hasSize(5);
            here.acquire(N).close();
        }

        @Test
        @DisplayName("by force: that grant alone")
        void byForce() throws Exception {
            Permits first = here.acquire(2);
            Permits second = here.acquire(3);
            first.onLost(loss -> told.add(loss.cause()));
            second.onLost(loss -> told.add(loss.cause()));
            world.releaseByForce("gpu");
            world.time().settle();

            assertThat(told).containsExactly(Loss.Cause.REMOVED);
            assertThat(first.isHeld()).isFalse();
            assertThat(second.isHeld()).isTrue();
            assertThatThrownBy(first::close).isInstanceOf(LockLostException.class);
            second.close();
        }

        @Test
        @DisplayName("with their client")
        @Tag("C9")
        void clientClosed() throws Exception {
            Permits first = here.acquire(2);
            first.onLost(loss -> told.add(loss.cause()));
            Permits second = here.acquire(8);
            HolderThread<Permits> waiter = waiting("waiter", here, 1);
            alice.close();
            world.time().settle();

            assertThat(told).containsExactly(Loss.Cause.CLIENT_CLOSED);
            assertThatThrownBy(waiter::awaitGrant).isInstanceOf(ClientClosedException.class);
            assertThat(heldAtTheStore()).isZero();
            assertThatThrownBy(second::close).isInstanceOf(LockLostException.class);
        }

        @Test
        @DisplayName("not in doubt, when the clock is set: what is let go then is asked about")
        @Tag("C13")
        void inDoubt() throws Exception {
            Permits first = here.acquire(2);
            Permits second = here.acquire(3);
            FaultyLink.HeldUp question = link.holdUpNext(Command.KeepAlive.class);
            world.time().stepWall(Duration.ofHours(1));
            assertThat(first.isHeld()).isFalse();

            first.close();
            HolderThread<Permits> third = waiting("third", here, 7);
            question.proceed();

            assertThat(second.isHeld()).isTrue();
            second.close();
            assertThat(third.awaitGrant().isHeld()).isTrue();
            third.release();
        }
    }
}
