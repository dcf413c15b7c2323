package dev.holdfast.verification.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.AcquireOptions;
import dev.holdfast.ClientClosedException;
import dev.holdfast.DistributedSemaphore;
import dev.holdfast.Hold;
import dev.holdfast.LockMismatchException;
import dev.holdfast.LockOptions;
import dev.holdfast.LockWaitTimeoutException;
import dev.holdfast.Permits;
import dev.holdfast.spi.Command;
import dev.holdfast.verification.world.Actor;
import dev.holdfast.verification.world.Eventually;
import dev.holdfast.verification.world.FaultyLink;
import dev.holdfast.verification.world.HolderThread;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@DisplayName("Permits")
class SemaphoreTest extends SemaphoreFixture {

    @Test
    @DisplayName("are granted together or not at all, and never more than there are")
    @Tag("P1")
    void together() throws Exception {
        Permits six = here.acquire(6);
        assertThat(six.permits()).isEqualTo(6);
        assertThat(there.tryAcquire(5)).isEmpty();
        Permits four = there.acquire(4);

        assertThat(heldAtTheStore()).isEqualTo(10);
        assertThat(here.tryAcquire()).isEmpty();
        assertThat(there.tryAcquire()).isEmpty();
        assertThat(world.waitersOf("gpu")).isZero();
        four.close();
        assertThat(there.tryAcquire(5)).isEmpty();
        assertThat(heldAtTheStore()).isEqualTo(6);
        six.close();
        there.acquire(10).close();
    }

    @Test
    @DisplayName("one process may have many grants, each of its own, with a token above all before it")
    @Tag("P1")
    void manyGrants() throws Exception {
        List<Permits> held = new ArrayList<>();
        long token = 0;
        for (int i = 0; i < N; i++) {
            Permits one = (i % 3 == 0 ? there : here).acquire();
            assertThat(one.fencingToken()).isGreaterThan(token);
            token = one.fencingToken();
            held.add(one);
        }
        assertThat(here.tryAcquire()).isEmpty();
        assertThat(world.recordOf("gpu").orElseThrow().holders()).hasSize(N);
        held.forEach(Permits::close);
    }

    @Test
    @DisplayName("belong to themselves: any thread closes them, a second close does nothing, and nothing is re-entrant")
    @Tag("P7")
    void belongToThemselves() throws Exception {
        Permits all = here.acquire(N);
        world.actor("other").run(() -> {
            assertThat(all.isHeld()).isTrue();
            all.close();
        });
        all.close();
        assertThat(all.isHeld()).isFalse();
        assertThatThrownBy(all::fencingToken).isInstanceOf(IllegalStateException.class);
        assertThat(heldAtTheStore()).isZero();

        Permits first = here.acquire(6);
        assertThat(here.tryAcquire(6)).as("of its own thread").isEmpty();
        first.close();
    }

    @Nested
    @DisplayName("inside a process")
    class Inside {

        @Test
        @DisplayName("pass from thread to thread in memory where the next wants as many")
        @Tag("P2")
        void handOver() throws Exception {
            Permits first = here.acquire(N);
            List<HolderThread<Permits>> queue = new ArrayList<>();
            for (int i = 0; i < 20; i++) {
                queue.add(waiting("asker-" + i, here, N));
            }
            first.close();
            queue.get(0).awaitGrant();
            link.forget();
            for (int i = 0; i < 19; i++) {
                queue.get(i).release();
                queue.get(i + 1).awaitGrant();
            }
            assertThat(link.sent(Command.Release.class)).isEmpty();
            assertThat(link.sent(Command.Acquire.class)).isEmpty();
            assertThat(link.sent(Command.Yield.class)).isEmpty();
            queue.get(19).release();
            world.advance(Duration.ofMillis(5));
            assertThat(heldAtTheStore()).isZero();
            assertThat(world.waitersOf("gpu")).isZero();
        }

        @Test
        @DisplayName("go back where the next wants more or fewer, and it waits at the store for what it wants")
        @Tag("P2")
        void otherNumbers() throws Exception {
            Permits first = here.acquire(N);
            HolderThread<Permits> three = waiting("three", here, 3);
            HolderThread<Permits> seven = waiting("seven", here, 7);
            HolderThread<Permits> ten = waiting("ten", here, N);

            first.close();

            assertThat(three.awaitGrant().permits()).isEqualTo(3);
            assertThat(seven.awaitGrant().permits()).isEqualTo(7);
            assertThat(ten.isWaiting()).isTrue();
            three.release();
            assertThat(ten.isWaiting()).isTrue();
            seven.release();
            ten.release();
        }

        @Test
        @DisplayName(
                "a request for many at the head keeps smaller ones behind it waiting, even where there is room for them")
        @Tag("P3")
        void largeHead() throws Exception {
            Permits first = here.acquire(6);
            HolderThread<Permits> large = waiting("large", here, 8);
            HolderThread<Permits> small = waiting("small", here, 1);
            assertThat(here.tryAcquire()).isEmpty();
            assertThat(small.isWaiting()).isTrue();

            first.close();

            assertThat(large.awaitGrant().permits()).isEqualTo(8);
            assertThat(small.awaitGrant().permits()).isEqualTo(1);
            large.release();
            small.release();
        }

        @Test
        @DisplayName("two that try at the same moment both get what there is")
        @Tag("P1")
        void triesAtTheSameMoment() throws Exception {
            FaultyLink.HeldUp asking = link.holdUpNext(Command.Acquire.class);
            Actor first = world.actor("first");
            Actor.Doing<Permits> one = first.start(() -> here.tryAcquire(4).orElseThrow());
            asking.awaitCommand();
            Actor.Doing<Permits> other =
                    world.actor("second").startWaiting(() -> here.tryAcquire(5).orElseThrow());
            Actor.Doing<Optional<Permits>> tooMany = world.actor("third").startWaiting(() -> here.tryAcquire(2));

            asking.proceed();

            assertThat(tooMany.result()).isEmpty();
            one.result().close();
            other.result().close();
        }

        @Test
        @DisplayName("a claim that nobody needs any more does not stay in the queue to keep others out")
        @Tag("P2")
        void noClaimIsLeft() throws Exception {
            Permits three = here.acquire(3);
            Permits seven = here.acquire(7);
            HolderThread<Permits> next = waiting("next", here, 3);
            Eventually.holds("it waits at the store", () -> world.waitersOf("gpu") == 1);
            three.close();
            next.awaitGrant();

            world.advance(Duration.ofMillis(5));

            assertThat(world.waitersOf("gpu")).isZero();
            seven.close();
            next.release();
        }

        @Test
        @DisplayName("those who leave the queue take nothing, and keep nobody waiting")
        @Tag("P2")
        @Tag("C5")
        void leaving() throws Exception {
            Permits all = here.acquire(N);
            Actor interrupted = world.actor("interrupted");
            Actor.Doing<Permits> first = interrupted.startWaiting(() -> here.acquire(9));
            Actor.Doing<Permits> second = world.actor("timed out")
                    .startWaiting(
                            () -> here.acquire(8, AcquireOptions.defaults().withMaxWait(Duration.ofSeconds(1))));
            CompletableFuture<Permits> third =
                    here.acquireAsync(7, AcquireOptions.defaults()).toCompletableFuture();
            HolderThread<Permits> theirs = waiting("theirs", there, 2);
            interrupted.interrupt();
            assertThatThrownBy(first::result).isInstanceOf(InterruptedException.class);
            world.advance(Duration.ofSeconds(1));
            assertThatThrownBy(second::result).isInstanceOf(LockWaitTimeoutException.class);
            third.cancel(true);
            Eventually.holds("one waits", () -> world.waitersOf("gpu") == 1);
            assertThat(theirs.isWaiting()).isTrue();

            all.close();

            theirs.release();
            assertThat(heldAtTheStore()).isZero();
        }

        @Test
        @DisplayName("before the store has answered too: what comes too late is given back")
        @Tag("C5")
        void lateGrant() throws Exception {
            FaultyLink.HeldUp asking = link.holdUpNext(Command.Acquire.class);
            CompletableFuture<Permits> first =
                    here.acquireAsync(7, AcquireOptions.defaults()).toCompletableFuture();
            asking.awaitCommand();
            first.cancel(true);

            asking.proceed();

            Eventually.holds("it was given back", () -> heldAtTheStore() == 0);
        }
    }

    @Nested
    @DisplayName("that make no sense")
    class BadInput {

        @ParameterizedTest
        @ValueSource(ints = {0, -1, Integer.MIN_VALUE, N + 1, Integer.MAX_VALUE})
        @DisplayName("can't be asked for: fewer than one, or more than there are; the store is not asked")
        @Tag("P6")
        void numbersOfPermits(int permits) {
            link.forget();
            AcquireOptions options = AcquireOptions.defaults();
            assertThatThrownBy(() -> here.acquire(permits))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("gpu")
                    .hasMessageContaining(Integer.toString(permits));
            assertThatThrownBy(() -> here.acquire(permits, options)).isInstanceOf(IllegalArgumentException.class);
            assertThatThrownBy(() -> here.tryAcquire(permits)).isInstanceOf(IllegalArgumentException.class);
            assertThatThrownBy(() -> here.tryAcquire(permits, options)).isInstanceOf(IllegalArgumentException.class);
            assertThatThrownBy(() -> here.acquireAsync(permits, options)).isInstanceOf(IllegalArgumentException.class);
            assertThat(link.sent()).isEmpty();
        }

        @ParameterizedTest
        @ValueSource(ints = {0, -1, Integer.MIN_VALUE})
        @DisplayName("can't be declared, nor what there is be changed to them")
        @Tag("P6")
        void numbersDeclared(int permits) {
            link.forget();
            assertThatThrownBy(() -> alice.semaphore("gpu", permits))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining(Integer.toString(permits));
            assertThatThrownBy(() -> here.resize(permits)).isInstanceOf(IllegalArgumentException.class);
            assertThat(link.sent()).isEmpty();
        }

        @Test
        @DisplayName("the greatest numbers are exact: sums don't overflow")
        @Tag("P6")
        void greatest() throws Exception {
            DistributedSemaphore huge = alice.semaphore("huge", Integer.MAX_VALUE);
            DistributedSemaphore theirs = bob.semaphore("huge", Integer.MAX_VALUE);
            Permits most = huge.acquire(Integer.MAX_VALUE - 1);
            Permits last = theirs.acquire(1);
            assertThat(huge.tryAcquire()).isEmpty();
            assertThat(theirs.tryAcquire(Integer.MAX_VALUE)).isEmpty();
            assertThat(huge.availablePermits()).isZero();
            last.close();
            assertThat(huge.availablePermits()).isEqualTo(1);
            most.close();
        }

        @Test
        @DisplayName("programs that disagree about their number learn it while anybody holds, here and there")
        @Tag("P6")
        void mismatch() throws Exception {
            Permits one = here.acquire();
            assertThatThrownBy(() -> bob.semaphore("gpu", N + 1).acquire())
                    .isInstanceOf(LockMismatchException.class)
                    .hasMessageContaining("gpu")
                    .hasMessageContaining("10");
            assertThatThrownBy(() -> alice.semaphore("gpu", N - 1).tryAcquire())
                    .isInstanceOf(LockMismatchException.class)
                    .hasMessageContaining("10");
            assertThatThrownBy(
                            () -> bob.semaphore("gpu", N, LockOptions.barging()).acquire())
                    .isInstanceOf(LockMismatchException.class);
            assertThatThrownBy(() -> bob.lock("gpu").lock()).isInstanceOf(LockMismatchException.class);
            assertThatThrownBy(() -> bob.readWriteLock("gpu").readLock().lock())
                    .isInstanceOf(LockMismatchException.class);
            assertThat(one.isHeld()).isTrue();
            one.close();

            bob.semaphore("gpu", N + 1).acquire(N + 1).close();
            try (Hold mutex = bob.lock("gpu").acquire()) {
                assertThatThrownBy(() -> here.acquire()).isInstanceOf(LockMismatchException.class);
                assertThatThrownBy(here::availablePermits).isInstanceOf(LockMismatchException.class);
                assertThatThrownBy(() -> here.resize(3)).isInstanceOf(LockMismatchException.class);
                assertThatThrownBy(here::drainPermits).isInstanceOf(LockMismatchException.class);
                assertThat(mutex.isHeld()).isTrue();
            }
        }

        @Test
        @DisplayName("nothing is granted by a closed client, and nothing asked")
        @Tag("C9")
        void closed() {
            alice.close();
            link.forget();
            assertThatThrownBy(() -> here.acquire()).isInstanceOf(ClientClosedException.class);
            assertThatThrownBy(here::tryAcquire).isInstanceOf(ClientClosedException.class);
            assertThatThrownBy(here::availablePermits).isInstanceOf(ClientClosedException.class);
            assertThatThrownBy(here::drainPermits).isInstanceOf(ClientClosedException.class);
            assertThatThrownBy(() -> here.resize(3)).isInstanceOf(ClientClosedException.class);
            assertThatThrownBy(() -> here.release("1@x")).isInstanceOf(ClientClosedException.class);
            assertThatThrownBy(() -> here.acquireAsync(1, AcquireOptions.defaults())
                            .toCompletableFuture()
                            .get(60, TimeUnit.SECONDS))
                    .isInstanceOf(ExecutionException.class)
                    .hasCauseInstanceOf(ClientClosedException.class);
            assertThat(link.sent()).isEmpty();
        }
    }
}
