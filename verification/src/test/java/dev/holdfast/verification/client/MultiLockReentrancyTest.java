package dev.holdfast.verification.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.AcquireOptions;
import dev.holdfast.DistributedLock;
import dev.holdfast.Hold;
import dev.holdfast.Holdfast;
import dev.holdfast.LockLostException;
import dev.holdfast.LockWaitTimeoutException;
import dev.holdfast.Loss;
import dev.holdfast.MultiHold;
import dev.holdfast.StoreUnavailableException;
import dev.holdfast.spi.Command.Extend;
import dev.holdfast.spi.Command.Release;
import dev.holdfast.spi.Reply;
import dev.holdfast.spi.StoreException.Effect;
import dev.holdfast.spi.StoreException.Reason;
import dev.holdfast.verification.world.Actor;
import dev.holdfast.verification.world.Actor.Doing;
import dev.holdfast.verification.world.Eventually;
import dev.holdfast.verification.world.FaultyLink;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@DisplayName("A multi-lock")
class MultiLockReentrancyTest extends MultiLockFixture {

    @Nested
    @DisplayName("asked for by a thread that holds a part")
    @Tag("J5")
    class HeldBefore {

        @Test
        @DisplayName("acquires that once more, with the same token, and leaves it as it was")
        void reentrant() throws Exception {
            DistributedLock b = alice.lock("b");
            Hold outer = b.acquire();

            try (MultiHold hold = abc.acquire()) {
                assertThat(hold.fencingToken("b")).isEqualTo(outer.fencingToken());
                assertThat(b.holdCount()).isEqualTo(2);
            }

            assertThat(b.holdCount()).isEqualTo(1);
            assertThat(outer.isHeld()).isTrue();
            assertThat(holders("a", "c")).containsOnly(Optional.empty());
            outer.close();
        }

        @Test
        @DisplayName("does not wait for one that comes before it, but tries, gives back, and tries again")
        void triesEarlierParts() throws Exception {
            Hold b = caller.call(() -> alice.lock("b").acquire());
            Hold a = bob.lock("a").acquire();
            link.forget();
            Doing<MultiHold> acquiring = caller.start(() -> abc.acquire());

            world.advanceUntil("it has tried some times", () -> asked().size() >= 3);

            assertThat(world.waitersOf("a")).isZero();
            assertThat(asked()).containsOnly("a");
            a.close();
            world.advanceUntil("it is granted", acquiring::isDone);
            caller.run(acquiring.result()::close);
            assertThat(b.isHeld()).isTrue();
            caller.run(b::close);
        }

        @Test
        @DisplayName("waits for those that come after it")
        void waitsForLaterParts() throws Exception {
            Hold b = caller.call(() -> alice.lock("b").acquire());
            Hold c = bob.lock("c").acquire();
            Doing<MultiHold> acquiring = caller.startWaiting(() -> abc.acquire());
            Eventually.holds("it waits for the last", () -> world.waitersOf("c") == 1);

            c.close();

            caller.run(acquiring.result()::close);
            caller.run(b::close);
        }

        @Test
        @DisplayName("two that each hold what the other lacks are parted by their maximum waits")
        void eachHoldsOne() throws Exception {
            Actor other = world.actor("other");
            Hold a = caller.call(() -> alice.lock("a").acquire());
            Hold b = other.call(() -> bob.lock("b").acquire());
            Doing<MultiHold> one = caller.start(() -> alice.lockAll("a", "b").acquire(Duration.ofSeconds(5)));
            Doing<MultiHold> two = other.start(() -> bob.lockAll("a", "b").acquire(Duration.ofSeconds(3)));

            world.advanceUntil("the shorter wait is over", two::isDone);
            assertThatThrownBy(two::result).isInstanceOf(LockWaitTimeoutException.class);
            other.run(b::close);

            MultiHold hold = one.result();
            assertThat(hold.isHeld()).isTrue();
            caller.run(hold::close);
            caller.run(a::close);
        }

        @Test
        @DisplayName("an interrupt in the pause between two tries ends it")
        void interruptedInPause() throws Exception {
            Hold b = caller.call(() -> alice.lock("b").acquire());
            Hold a = bob.lock("a").acquire();
            link.forget();
            Doing<MultiHold> acquiring = caller.start(() -> abc.acquire());
            world.advanceUntil("it has tried some times", () -> asked().size() >= 3);

            caller.interrupt();

            assertThatThrownBy(acquiring::result).isInstanceOf(InterruptedException.class);
            assertThat(b.isHeld()).isTrue();
            assertThat(caller.<Integer>call(alice.lock("b")::holdCount)).isEqualTo(1);
            a.close();
            caller.run(b::close);
        }

        @Test
        @DisplayName("can't ask for a lease, for the outer hold has one; nothing is asked for")
        void leaseOfOuter() throws Exception {
            Hold b = alice.lock("b").acquire();
            link.forget();
            assertThatThrownBy(() -> abc.acquire(AcquireOptions.defaults().withFixedLease(MINUTE)))
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("'b'");
            assertThatThrownBy(() -> abc.tryAcquire(AcquireOptions.defaults().withMaxHold(MINUTE)))
                    .isInstanceOf(IllegalStateException.class);
            assertThat(link.sent()).isEmpty();
            b.close();
        }

        @Test
        @DisplayName("learns it if that hold was lost, and keeps nothing else")
        void outerLost() throws Exception {
            Hold b = caller.call(() -> alice.lock("b").acquire());
            world.releaseByForce("b");

            assertThatThrownBy(() -> caller.call(() -> abc.acquire())).isInstanceOf(LockLostException.class);

            assertThat(holders("a", "c")).containsOnly(Optional.empty());
            assertThatThrownBy(() -> caller.run(b::close)).isInstanceOf(LockLostException.class);
        }
    }

    @Nested
    @DisplayName("is good while every part is")
    @Tag("J6")
    class WhileHeld {

        @Test
        @DisplayName("the loss of one is told once, with its name, and the others stay held until the close")
        void loss() throws Exception {
            List<Loss> told = new CopyOnWriteArrayList<>();
            MultiHold hold = abc.acquire();
            hold.onLost(told::add);
            long token = hold.fencingToken("b");

            world.releaseByForce("b");
            world.time().settle();

            assertThat(told).singleElement().satisfies(loss -> {
                assertThat(loss.name()).isEqualTo("b");
                assertThat(loss.token()).isEqualTo(token);
            });
            assertThat(hold.isHeld()).isFalse();
            assertThat(hold.remaining()).isZero();
            assertThatThrownBy(hold::ensureHeld).isInstanceOf(LockLostException.class);
            assertThatThrownBy(() -> hold.fencingToken("b")).isInstanceOf(LockLostException.class);
            assertThat(hold.fencingToken("a")).isPositive();
            assertThat(holders("a", "c")).containsOnly(Optional.of("alice"));

            world.releaseByForce("c");
            world.time().settle();
            assertThat(told).hasSize(1);
            assertThatThrownBy(hold::close).isInstanceOfSatisfying(LockLostException.class, e -> {
                assertThat(e.loss().name()).isEqualTo("b");
                assertThat(e.getSuppressed()).singleElement().isInstanceOf(LockLostException.class);
            });
            world.awaitIdle();
        }

        @Test
        @DisplayName("who asks to be told after the loss is told at once, and a listener that throws hurts nobody")
        void lateListener() throws Exception {
            List<Loss> told = new CopyOnWriteArrayList<>();
            MultiHold hold = abc.acquire();
            hold.onLost(loss -> {
                throw new IllegalStateException("the test says so");
            });
            world.releaseByForce("c");
            world.time().settle();
            hold.onLost(told::add);
            world.time().settle();

            assertThat(told).singleElement().extracting(Loss::name).isEqualTo("c");
            assertThatThrownBy(hold::close).isInstanceOf(LockLostException.class);
        }

        @Test
        @DisplayName("when the session ends, all parts are lost, and that is told once")
        void sessionLost() throws Exception {
            List<Loss> told = new CopyOnWriteArrayList<>();
            MultiHold hold = abc.acquire();
            hold.onLost(told::add);
            link.cut();

            world.advance(Duration.ofSeconds(31));

            assertThat(told).hasSize(1);
            assertThat(hold.isHeld()).isFalse();
            link.mend();
            assertThatThrownBy(hold::close)
                    .isInstanceOf(LockLostException.class)
                    .satisfies(e -> assertThat(e.getSuppressed()).hasSize(2));
        }

        @Test
        @DisplayName("a release that is not confirmed is told, and the others are released")
        void releaseUnconfirmed() throws Exception {
            MultiHold hold = caller.call(() -> abc.acquire());
            FaultyLink.HeldUp last = link.holdUpNext(Release.class);
            Doing<Boolean> closing = caller.start(() -> {
                hold.close();
                return true;
            });
            assertThat(((Release) last.awaitCommand()).resource().value()).isEqualTo("c");
            Eventually.holds(
                    "a and b are released", () -> holders("a", "b").stream().allMatch(Optional::isEmpty));
            link.fail(Release.class, Reason.UNAVAILABLE, Effect.NONE);
            last.fail(Reason.UNAVAILABLE, Effect.UNKNOWN);

            world.advanceUntil("it ends", closing::isDone);

            assertThatThrownBy(closing::result)
                    .isInstanceOf(StoreUnavailableException.class)
                    .hasMessageContaining("'c'")
                    .satisfies(e -> assertThat(e.getSuppressed()).isEmpty());
            assertThat(holders("a", "b")).containsOnly(Optional.empty());
            link.mend();
            world.advanceUntil("it is released", () -> world.holderOf("c").isEmpty());
        }

        @Test
        @DisplayName("if one part's release has no answer in time, that part alone is said to be unconfirmed")
        void releaseUnanswered() throws Exception {
            Holdfast hasty = world.client(world.builder("hasty", link).storeTimeout(Duration.ofMillis(100)));
            MultiHold hold = caller.call(() -> hasty.lockAll("a", "b", "c").acquire());
            link.cutFor(command -> command instanceof Release release
                    && release.resource().value().equals("b"));

            // Time stands still, so that no answer is missed but by who waits in real time.
            Doing<Boolean> closing = caller.start(() -> {
                hold.close();
                return true;
            });

            assertThatThrownBy(closing::result)
                    .isInstanceOf(StoreUnavailableException.class)
                    .hasMessageContaining("'b'")
                    .satisfies(e -> assertThat(e.getSuppressed()).isEmpty());
            assertThat(holders("a", "c")).containsOnly(Optional.empty());
            link.mend();
            world.advanceUntil("it is released", () -> world.holderOf("b").isEmpty());
        }

        @Test
        @DisplayName("the earliest deadline counts")
        void deadline() throws Exception {
            Duration lease = Duration.ofSeconds(10);
            Hold b = alice.lock("b").acquire();
            MultiHold hold = abc.acquire();
            assertThat(hold.effectiveLease()).isEqualTo(Duration.ofSeconds(30));
            assertThat(hold.remaining()).isLessThanOrEqualTo(b.remaining()).isPositive();
            hold.close();
            b.close();
            try (MultiHold bounded = abc.acquire(AcquireOptions.defaults().withMaxHold(lease))) {
                assertThat(bounded.effectiveLease()).isEqualTo(lease);
                assertThat(bounded.remaining()).isPositive().isLessThan(lease);
            }
        }
    }

    @Nested
    @DisplayName("with a fixed lease")
    @Tag("J7")
    class FixedLeases {

        private final Duration lease = Duration.ofSeconds(10);
        private final AcquireOptions options = AcquireOptions.defaults().withFixedLease(lease);

        @Test
        @DisplayName("has the full lease on every part when the last is granted")
        void fullLease() throws Exception {
            Hold c = bob.lock("c").acquire();
            Doing<MultiHold> waiting = caller.startWaiting(() -> abc.acquire(options));
            Eventually.holds("it waits for the last", () -> world.waitersOf("c") == 1);
            world.advance(Duration.ofSeconds(6));
            c.close();
            world.advanceUntil("it is granted", waiting::isDone);

            MultiHold hold = waiting.result();
            // Without the extension it would be 3 s; some time has passed since.
            assertThat(hold.remaining()).isGreaterThan(Duration.ofSeconds(7));
            assertThat(link.sent(Extend.class))
                    .extracting(extend -> extend.resource().value())
                    .containsExactly("a", "b");
            world.advance(Duration.ofSeconds(5));
            hold.extend(lease);
            assertThat(hold.remaining()).isEqualTo(Duration.ofSeconds(9));
            caller.run(hold::close);
        }

        @Test
        @DisplayName("without a thread too")
        void fullLeaseAsync() throws Exception {
            Hold c = bob.lock("c").acquire();
            CompletableFuture<MultiHold> waiting = abc.acquireAsync(options).toCompletableFuture();
            Eventually.holds("it waits for the last", () -> world.waitersOf("c") == 1);
            world.advance(Duration.ofSeconds(6));
            c.close();
            world.advanceUntil("it is granted", waiting::isDone);

            MultiHold hold = waiting.join();
            // Without the extension it would be 3 s; some time has passed since.
            assertThat(hold.remaining()).isGreaterThan(Duration.ofSeconds(7));
            hold.close();
        }

        @Test
        @DisplayName("begins anew if a lease has run out while others were waited for")
        void ranOut() throws Exception {
            Hold c = bob.lock("c").acquire();
            Doing<MultiHold> waiting = caller.startWaiting(() -> abc.acquire(options));
            Eventually.holds("it waits for the last", () -> world.waitersOf("c") == 1);
            world.advance(Duration.ofSeconds(11));
            assertThat(world.holderOf("a")).isEmpty();
            link.forget();
            c.close();

            world.advanceUntil("it is granted", waiting::isDone);

            assertThat(waiting.result().isHeld()).isTrue();
            assertThat(asked()).containsExactly("a", "b", "c");
            caller.run(waiting.result()::close);
        }

        @Test
        @DisplayName("and without a thread too")
        void ranOutAsync() throws Exception {
            Hold c = bob.lock("c").acquire();
            CompletableFuture<MultiHold> waiting = abc.acquireAsync(options).toCompletableFuture();
            Eventually.holds("it waits for the last", () -> world.waitersOf("c") == 1);
            world.advance(Duration.ofSeconds(11));
            link.forget();
            c.close();

            world.advanceUntil("it is granted", waiting::isDone);

            assertThat(waiting.join().isHeld()).isTrue();
            assertThat(asked()).containsExactly("a", "b", "c");
            waiting.join().close();
        }

        @Test
        @DisplayName("until the maximum wait is over")
        void ranOutForGood() throws Exception {
            AcquireOptions limited = options.withMaxWait(Duration.ofSeconds(11));
            Hold c = bob.lock("c").acquire();
            Doing<MultiHold> waiting = caller.startWaiting(() -> abc.acquire(limited));
            Eventually.holds("it waits for the last", () -> world.waitersOf("c") == 1);
            world.advance(Duration.ofMillis(10_800));
            Hold a = bob.lock("a").acquire();
            c.close();

            world.advanceUntil("it is over", waiting::isDone);

            assertThatThrownBy(waiting::result)
                    .isInstanceOf(LockWaitTimeoutException.class)
                    .hasMessageContaining("'a'");
            holdsNothing();
            a.close();
        }

        @Test
        @DisplayName("gives back if the store does not say that the lease was set")
        void extensionFails() throws Exception {
            link.fail(Extend.class, Reason.UNAVAILABLE, Effect.UNKNOWN);
            Doing<MultiHold> acquiring = caller.start(() -> abc.acquire(options));
            world.advanceUntil("it fails", acquiring::isDone);
            assertThatThrownBy(acquiring::result).isInstanceOf(StoreUnavailableException.class);
            holdsNothing();
            CompletableFuture<MultiHold> stage = abc.acquireAsync(options).toCompletableFuture();
            world.advanceUntil("the stage fails", stage::isDone);
            assertThatThrownBy(stage::join).hasCauseInstanceOf(StoreUnavailableException.class);
            Eventually.holds(
                    "it is given back", () -> holders("a", "b", "c").stream().allMatch(Optional::isEmpty));
        }

        @Test
        @DisplayName("without a thread acquires a part again that is found to be lost when its lease is to be set")
        void partIsLost() throws Exception {
            Hold c = bob.lock("c").acquire();
            CompletableFuture<MultiHold> waiting = abc.acquireAsync(options).toCompletableFuture();
            Eventually.holds("it waits for the last", () -> world.waitersOf("c") == 1);
            world.advance(Duration.ofSeconds(6));
            link.answerNext(Extend.class, new Reply.Absent());
            c.close();
            world.advanceUntil("it is granted", waiting::isDone);
            MultiHold hold = waiting.join();
            assertThat(hold.isHeld()).isTrue();
            assertThat(asked()).filteredOn("a"::equals).hasSize(2);
            hold.close();
        }

        @Test
        @DisplayName("without a thread acquires parts again whose leases ended while the machine slept")
        void leaseEndedAsleep() throws Exception {
            Hold c = bob.lock("c").acquire();
            CompletableFuture<MultiHold> waiting = abc.acquireAsync(options).toCompletableFuture();
            Eventually.holds("it waits for the last", () -> world.waitersOf("c") == 1);
            world.time().suspend(Duration.ofSeconds(12));
            c.close();
            world.advanceUntil("it has ended", waiting::isDone);
            MultiHold hold = waiting.join();
            assertThat(hold.isHeld()).isTrue();
            assertThat(asked()).filteredOn("a"::equals).hasSize(2);
            hold.close();
        }

        @Test
        @DisplayName("a hold without one can't be extended, whatever the parts")
        void notExtendable() throws Exception {
            try (MultiHold hold = abc.acquire()) {
                assertThatThrownBy(() -> hold.extend(lease))
                        .isInstanceOf(IllegalStateException.class)
                        .satisfies(e -> assertThat(e.getSuppressed()).hasSize(2));
            }
        }
    }
}
