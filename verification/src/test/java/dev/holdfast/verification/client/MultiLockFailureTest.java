package dev.holdfast.verification.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.AcquireOptions;
import dev.holdfast.ClientClosedException;
import dev.holdfast.Hold;
import dev.holdfast.Holdfast;
import dev.holdfast.LockMismatchException;
import dev.holdfast.LockOptions;
import dev.holdfast.MultiHold;
import dev.holdfast.StoreUnavailableException;
import dev.holdfast.spi.Command.Acquire;
import dev.holdfast.spi.Command.Release;
import dev.holdfast.spi.StoreException.Effect;
import dev.holdfast.spi.StoreException.Reason;
import dev.holdfast.verification.world.Actor.Doing;
import dev.holdfast.verification.world.Eventually;
import dev.holdfast.verification.world.FaultyLink;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@DisplayName("A multi-lock")
class MultiLockFailureTest extends MultiLockFixture {

    @Nested
    @DisplayName("whose store falls silent ends when the store time-out is over for what it waits for")
    @Tag("C15")
    class Silent {

        private static final Duration WAIT = Duration.ofSeconds(2);

        private static final Duration STORE_TIMEOUT = Duration.ofSeconds(10);

        private final Holdfast carol = world.client(world.builder("carol", link).storeTimeout(STORE_TIMEOUT));

        private void beSilentFor(String name) {
            link.cutFor(command -> command instanceof Release
                    || (command instanceof Acquire acquire
                            && acquire.resource().value().equals(name)));
        }

        @Test
        @DisplayName("also while what it has can't be given back")
        void givingBack() {
            beSilentFor("b");
            Doing<MultiHold> waiting =
                    caller.startWaiting(() -> carol.lockAll("a", "b").acquire(WAIT));
            Eventually.holds("b is asked for", () -> asked().contains("b"));

            world.advance(WAIT.plusSeconds(1));
            assertThat(waiting.isDone()).isFalse();
            world.advance(STORE_TIMEOUT.multipliedBy(2));

            assertThatThrownBy(waiting::result)
                    .isInstanceOfSatisfying(
                            StoreUnavailableException.class,
                            e -> assertThat(e.getSuppressed()).hasSize(1));
        }

        @Test
        @DisplayName("also where it only tries, since it came with a later part")
        void trying() throws Exception {
            Hold later = caller.call(() -> carol.lock("b").acquire());
            beSilentFor("a");
            Doing<MultiHold> waiting =
                    caller.startWaiting(() -> carol.lockAll("a", "b").acquire(WAIT));
            Eventually.holds("a is asked for", () -> asked().contains("a"));

            world.advance(STORE_TIMEOUT.plusSeconds(1));

            assertThatThrownBy(waiting::result).isInstanceOf(StoreUnavailableException.class);
            link.mend();
            caller.run(later::close);
        }

        @Test
        @DisplayName("also without a thread that waits")
        void stage() {
            beSilentFor("b");
            CompletableFuture<MultiHold> waiting = carol.lockAll("a", "b")
                    .acquireAsync(AcquireOptions.defaults().withMaxWait(WAIT))
                    .toCompletableFuture();
            Eventually.holds("b is asked for", () -> asked().contains("b"));

            world.advance(STORE_TIMEOUT.multipliedBy(2).plusSeconds(1));

            Eventually.holds("it has failed", waiting::isCompletedExceptionally);
        }
    }

    @Nested
    @DisplayName("gives all or nothing")
    @Tag("J4")
    class AllOrNothing {

        @Test
        @DisplayName("an interrupt while waiting ends it, and nothing is held or waited for")
        void interrupt() throws Exception {
            Hold c = bob.lock("c").acquire();
            Doing<MultiHold> waiting = caller.startWaiting(() -> abc.acquire());
            Eventually.holds("it waits for the last", () -> world.waitersOf("c") == 1);

            caller.interrupt();

            assertThatThrownBy(waiting::result).isInstanceOf(InterruptedException.class);
            assertThat(caller.<Boolean>call(Thread::interrupted)).isFalse();
            holdsNothing();
            assertThat(world.waitersOf("c")).isZero();
            c.close();
        }

        @Test
        @DisplayName("a pending interrupt ends it before anything is asked, but not a try")
        void pendingInterrupt() throws Exception {
            link.forget();
            assertThatThrownBy(() -> caller.call(() -> {
                        Thread.currentThread().interrupt();
                        return abc.acquire();
                    }))
                    .isInstanceOf(InterruptedException.class);
            assertThat(link.sent()).isEmpty();

            caller.run(() -> {
                Thread.currentThread().interrupt();
                abc.tryAcquire().orElseThrow().close();
                assertThat(Thread.interrupted()).isTrue();
            });
        }

        @Test
        @DisplayName("cancelling the stage ends it, and nothing is held or waited for")
        void cancel() throws Exception {
            Hold c = bob.lock("c").acquire();
            CompletableFuture<MultiHold> waiting = abc.acquireAsync().toCompletableFuture();
            Eventually.holds("it waits for the last", () -> world.waitersOf("c") == 1);

            assertThat(waiting.cancel(false)).isTrue();

            Eventually.holds(
                    "it is given back",
                    () -> world.holderOf("a").isEmpty() && world.holderOf("b").isEmpty() && world.waitersOf("c") == 0);
            c.close();
        }

        @Test
        @DisplayName("a part that fails fails the whole, under its own name")
        void mismatch() throws Exception {
            Hold c = bob.lock("c", LockOptions.barging()).acquire();

            assertThatThrownBy(() -> caller.call(() -> abc.acquire()))
                    .isInstanceOfSatisfying(
                            LockMismatchException.class,
                            e -> assertThat(e.resource()).isEqualTo("c"));
            holdsNothing();
            assertThatThrownBy(() -> abc.acquireAsync().toCompletableFuture().join())
                    .hasCauseInstanceOf(LockMismatchException.class);
            holdsNothing();
            c.close();
        }

        @Test
        @DisplayName("what is not confirmed to be given back is suppressed in the failure, and the rest is given back")
        void undoUnconfirmed() throws Exception {
            Hold c = bob.lock("c", LockOptions.barging()).acquire();
            FaultyLink.HeldUp lost = link.holdUpNext(Release.class);
            Doing<MultiHold> acquiring = caller.start(() -> abc.acquire());
            assertThat(((Release) lost.awaitCommand()).resource().value()).isEqualTo("b");
            Eventually.holds("a is given back", () -> world.holderOf("a").isEmpty());
            link.fail(Release.class, Reason.UNAVAILABLE, Effect.NONE);
            lost.fail(Reason.UNAVAILABLE, Effect.UNKNOWN);

            world.advanceUntil("it ends", acquiring::isDone);

            assertThatThrownBy(acquiring::result)
                    .isInstanceOf(LockMismatchException.class)
                    .satisfies(e -> assertThat(e.getSuppressed())
                            .singleElement()
                            .satisfies(undo -> assertThat(undo)
                                    .isInstanceOf(StoreUnavailableException.class)
                                    .hasMessageContaining("'b'")
                                    .hasMessageContaining("is being released")));
            assertThat(world.holderOf("a")).isEmpty();
            link.mend();
            world.advanceUntil(
                    "the other is given back", () -> world.holderOf("b").isEmpty());
            c.close();
        }

        @Test
        @DisplayName("a try that could not be confirmed to give back is more than empty")
        void tryUndoUnconfirmed() throws Exception {
            Hold c = bob.lock("c").acquire();
            link.fail(Release.class, Reason.UNAVAILABLE, Effect.NONE);
            Doing<Optional<MultiHold>> trying = caller.start(() -> abc.tryAcquire());

            world.advanceUntil("it ends", trying::isDone);

            assertThatThrownBy(trying::result)
                    .isInstanceOf(StoreUnavailableException.class)
                    .satisfies(e -> assertThat(e.getSuppressed()).hasSize(1));
            link.mend();
            world.advanceUntil(
                    "all is given back",
                    () -> world.holderOf("a").isEmpty() && world.holderOf("b").isEmpty());
            c.close();
        }

        @Test
        @DisplayName("a part that is lost while others are waited for is given up, and all begins anew")
        void lostWhileWaiting() throws Exception {
            Hold c = bob.lock("c").acquire();
            Doing<MultiHold> waiting = caller.startWaiting(() -> abc.acquire());
            Eventually.holds("it waits for the last", () -> world.waitersOf("c") == 1);
            world.releaseByForce("a");
            Hold other = world.client("carol").lock("a").acquire();

            c.close();

            Eventually.holds("it waits for what was lost", () -> {
                world.advance(Duration.ofMillis(50));
                return world.waitersOf("a") == 1;
            });
            assertThat(waiting.isDone()).isFalse();
            assertThat(holders("b", "c")).containsOnly(Optional.empty());
            other.close();
            MultiHold hold = waiting.result();
            assertThat(hold.isHeld()).isTrue();
            caller.run(hold::close);
        }

        @Test
        @DisplayName("closing the client ends it")
        void clientClosed() throws Exception {
            Hold c = bob.lock("c").acquire();
            Doing<MultiHold> waiting = caller.startWaiting(() -> abc.acquire());
            CompletableFuture<MultiHold> async = abc.acquireAsync().toCompletableFuture();

            alice.close();

            assertThatThrownBy(waiting::result).isInstanceOf(ClientClosedException.class);
            assertThatThrownBy(async::join).hasCauseInstanceOf(ClientClosedException.class);
            c.close();
        }
    }
}
