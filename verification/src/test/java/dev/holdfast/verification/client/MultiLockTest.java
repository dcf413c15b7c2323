package dev.holdfast.verification.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.AcquireOptions;
import dev.holdfast.ClientClosedException;
import dev.holdfast.DistributedLock;
import dev.holdfast.DistributedReadWriteLock;
import dev.holdfast.DistributedSemaphore;
import dev.holdfast.Hold;
import dev.holdfast.Holdfast;
import dev.holdfast.LockLostException;
import dev.holdfast.LockMismatchException;
import dev.holdfast.LockOptions;
import dev.holdfast.LockWaitTimeoutException;
import dev.holdfast.Lockable;
import dev.holdfast.Loss;
import dev.holdfast.MultiHold;
import dev.holdfast.MultiLock;
import dev.holdfast.NotOwnerException;
import dev.holdfast.ReleaseOutcome;
import dev.holdfast.StoreUnavailableException;
import dev.holdfast.spi.Command;
import dev.holdfast.spi.Command.Acquire;
import dev.holdfast.spi.Command.Extend;
import dev.holdfast.spi.Command.Release;
import dev.holdfast.spi.StoreException.Effect;
import dev.holdfast.spi.StoreException.Reason;
import dev.holdfast.verification.world.Actor;
import dev.holdfast.verification.world.Actor.Doing;
import dev.holdfast.verification.world.Eventually;
import dev.holdfast.verification.world.FaultyLink;
import dev.holdfast.verification.world.World;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@DisplayName("A multi-lock")
class MultiLockTest {

    private static final Duration MINUTE = Duration.ofMinutes(1);

    private final World world = World.still();
    private final FaultyLink link = world.link();
    private final Holdfast alice = world.client("alice", link);
    private final Holdfast bob = world.client("bob");
    private final MultiLock abc = alice.lockAll("b", "a", "c");
    private final Actor caller = world.actor("caller");

    @AfterEach
    void close() {
        world.close();
    }

    /** Lets time pass, a little at a time, until something is so. */
    private void passesUntil(String what, BooleanSupplier condition) {
        Eventually.holds(what, () -> {
            world.advance(Duration.ofMillis(50));
            return condition.getAsBoolean();
        });
    }

    private List<String> asked() {
        return link.sent(Acquire.class).stream()
                .map(acquire -> acquire.resource().value())
                .toList();
    }

    private List<Optional<String>> holders(String... names) {
        return List.of(names).stream().map(world::holderOf).toList();
    }

    private void holdsNothing() {
        assertThat(holders("a", "b", "c")).doesNotContain(Optional.of("alice"));
        assertThat(List.of("a", "b", "c")).allSatisfy(name -> {
            DistributedLock lock = alice.lock(name);
            assertThat(caller.<Integer>call(lock::holdCount)).isZero();
        });
    }

    @Nested
    @DisplayName("whose store falls silent, ends within a second after its wait")
    @Tag("C15")
    class Silent {

        private static final Duration WAIT = Duration.ofSeconds(2);

        private final Holdfast carol = world.client(world.builder("carol", link).storeTimeout(Duration.ofMinutes(10)));

        private void isSilentFor(String name) {
            link.cutFor(command -> command instanceof Release
                    || (command instanceof Acquire acquire
                            && acquire.resource().value().equals(name)));
        }

        @Test
        @DisplayName("also while what it has can't be given back")
        void givingBack() {
            isSilentFor("b");
            Doing<MultiHold> waiting =
                    caller.startWaiting(() -> carol.lockAll("a", "b").acquire(WAIT));
            Eventually.holds("b is asked for", () -> asked().contains("b"));

            world.advance(WAIT.plusSeconds(1));

            assertThatThrownBy(waiting::result)
                    .isInstanceOfSatisfying(
                            StoreUnavailableException.class,
                            e -> assertThat(e.getSuppressed()).hasSize(1));
        }

        @Test
        @DisplayName("also where it only tries, since it came with a later part")
        void trying() throws Exception {
            Hold later = caller.call(() -> carol.lock("b").acquire());
            isSilentFor("a");
            Doing<MultiHold> waiting =
                    caller.startWaiting(() -> carol.lockAll("a", "b").acquire(WAIT));
            Eventually.holds("a is asked for", () -> asked().contains("a"));

            world.advance(WAIT.plusSeconds(1));

            assertThatThrownBy(waiting::result).isInstanceOf(StoreUnavailableException.class);
            link.mend();
            caller.run(later::close);
        }

        @Test
        @DisplayName("also without a thread that waits")
        void stage() {
            isSilentFor("b");
            CompletableFuture<MultiHold> waiting = carol.lockAll("a", "b")
                    .acquireAsync(AcquireOptions.defaults().withMaxWait(WAIT))
                    .toCompletableFuture();
            Eventually.holds("b is asked for", () -> asked().contains("b"));

            world.advance(WAIT.plusSeconds(1));

            Eventually.holds("it has failed", waiting::isCompletedExceptionally);
        }
    }

    @Nested
    @DisplayName("gives all parts")
    class Giving {

        @Test
        @Tag("J1")
        @DisplayName("each with the fencing token of its own resource, and gives all of them back")
        void tokens() throws Exception {
            Hold before = bob.lock("b").acquire();
            long earlier = before.fencingToken();
            before.close();

            try (MultiHold hold = abc.acquire()) {
                assertThat(hold.names()).containsExactly("a", "b", "c");
                assertThat(hold.isHeld()).isTrue();
                assertThat(holders("a", "b", "c")).containsOnly(Optional.of("alice"));
                assertThat(hold.fencingToken("b")).isGreaterThan(earlier);
                for (String name : hold.names()) {
                    assertThat(world.recordOf(name).orElseThrow().lastToken())
                            .isGreaterThanOrEqualTo(hold.fencingToken(name));
                }
                assertThatThrownBy(() -> hold.fencingToken("d")).isInstanceOf(IllegalArgumentException.class);
            }
            world.awaitIdle();
        }

        @Test
        @Tag("J1")
        @DisplayName("by all its forms")
        void allForms() throws Exception {
            abc.acquire(Duration.ZERO).close();
            abc.acquire(MINUTE).close();
            abc.acquire(Duration.ofSeconds(Long.MAX_VALUE)).close();
            abc.acquire(AcquireOptions.defaults().withMaxHold(MINUTE)).close();
            abc.tryAcquire().orElseThrow().close();
            abc.tryAcquire(MINUTE).orElseThrow().close();
            abc.tryAcquire(AcquireOptions.defaults()).orElseThrow().close();
            try (MultiHold hold = abc.acquireAsync().toCompletableFuture().join()) {
                assertThat(hold.isHeld()).isTrue();
            }
            try (MultiHold hold = alice.lockAll("one").acquire()) {
                assertThat(hold.names()).containsExactly("one");
            }
            world.awaitIdle();
        }

        @Test
        @Tag("J1")
        @DisplayName("and tells how the release ended, part by part")
        void released() throws Exception {
            MultiHold hold = abc.acquire();
            world.releaseByForce("b");

            Map<String, ReleaseOutcome> outcomes =
                    hold.releaseAsync().toCompletableFuture().join();

            assertThat(outcomes)
                    .containsExactly(
                            Map.entry("a", ReleaseOutcome.RELEASED),
                            Map.entry("b", ReleaseOutcome.LOST),
                            Map.entry("c", ReleaseOutcome.RELEASED));
            assertThat(hold.releaseAsync().toCompletableFuture().join()).isEqualTo(outcomes);
            hold.close();
            assertThat(hold.isHeld()).isFalse();
            assertThat(hold.remaining()).isZero();
            assertThatThrownBy(() -> hold.fencingToken("a")).isInstanceOf(IllegalStateException.class);
            assertThatThrownBy(hold::ensureHeld).isInstanceOf(IllegalStateException.class);
        }

        @Test
        @Tag("J1")
        @DisplayName("only its owner releases it; who takes it without a thread lets any thread do so")
        void ownership() throws Exception {
            MultiHold ofCaller = caller.call(() -> abc.acquire());
            assertThatThrownBy(ofCaller::close).isInstanceOf(NotOwnerException.class);
            assertThat(ofCaller.isHeld()).isTrue();
            caller.run(ofCaller::close);

            MultiHold ofNobody = abc.acquireAsync().toCompletableFuture().join();
            caller.run(ofNobody::close);
            assertThat(ofNobody.isHeld()).isFalse();
        }

        @Test
        @Tag("J1")
        @DisplayName("a part that was unlocked from beneath is told by close, and the others are released")
        void unlockedFromBeneath() throws Exception {
            DistributedLock b = alice.lock("b");
            MultiHold outer = abc.acquire();
            MultiHold inner = alice.lockAll("a", "b").acquire();
            b.unlock();
            b.unlock();

            assertThatThrownBy(inner::close)
                    .isInstanceOf(NotOwnerException.class)
                    .hasMessageContaining("b");
            outer.close();
            world.awaitIdle();
        }
    }

    @Nested
    @DisplayName("keeps to one order")
    class Order {

        @Test
        @Tag("J2")
        @DisplayName("that of the unsigned bytes of the names, whatever order they are given in")
        void unsignedBytes() throws Exception {
            // In UTF-16 the last comes before the third; in UTF-8 it does not.
            List<String> names = List.of("B", "a", "\uffee", "\ud834\udd1e");
            String[] backwards = {"\ud834\udd1e", "\uffee", "a", "B"};
            link.forget();

            alice.lockAll(backwards).acquire().close();

            assertThat(asked()).containsExactlyElementsOf(names);
        }

        @Test
        @Tag("J2")
        @DisplayName("so that a later part is not asked for while an earlier one is waited for")
        void oneAfterAnother() throws Exception {
            Hold first = bob.lock("a").acquire();
            link.forget();
            Doing<MultiHold> waiting = caller.startWaiting(() -> abc.acquire());
            assertThat(asked()).containsExactly("a");

            first.close();

            MultiHold hold = waiting.result();
            assertThat(asked()).containsExactly("a", "b", "c");
            caller.run(hold::close);
        }

        @Test
        @Tag("J2")
        @DisplayName("opposite orders from two clients never meet head on, in virtual time")
        void oppositeOrders() throws Exception {
            Actor other = world.actor("other");
            MultiLock forth = alice.lockAll("a", "b");
            MultiLock back = bob.lockAll("b", "a");
            for (int i = 0; i < 50; i++) {
                Hold gate =
                        world.client("gate-" + i).lock(i % 2 == 0 ? "a" : "b").acquire();
                Doing<MultiHold> one = caller.start(() -> forth.acquire());
                Doing<MultiHold> two = other.start(() -> back.acquire());
                Eventually.holds("one of them waits", () -> world.waitersOf("a") + world.waitersOf("b") > 0);
                gate.close();
                Eventually.holds("one of them is served", () -> one.isDone() || two.isDone());
                if (one.isDone()) {
                    caller.run(one.result()::close);
                    other.run(two.result()::close);
                } else {
                    other.run(two.result()::close);
                    caller.run(one.result()::close);
                }
            }
        }
    }

    @Nested
    @DisplayName("waits once for all")
    class Waiting {

        @Test
        @Tag("J3")
        @DisplayName("the maximum wait is for all parts together")
        void oneMaximum() throws Exception {
            Hold a = bob.lock("a").acquire();
            Hold c = bob.lock("c").acquire();
            Doing<MultiHold> waiting = caller.startWaiting(() -> abc.acquire(Duration.ofSeconds(10)));
            world.advance(Duration.ofSeconds(6));
            a.close();
            Eventually.holds("it waits for the last", () -> world.waitersOf("c") == 1);
            world.advance(Duration.ofMillis(3_900));
            assertThat(waiting.isDone()).isFalse();

            world.advance(Duration.ofMillis(200));

            assertThatThrownBy(waiting::result).isInstanceOfSatisfying(LockWaitTimeoutException.class, timeout -> {
                assertThat(timeout.resource()).isEqualTo("c");
                assertThat(timeout.waited()).isEqualTo(Duration.ofSeconds(10));
                assertThat(timeout.getSuppressed()).isEmpty();
            });
            holdsNothing();
            c.close();
        }

        @Test
        @Tag("J3")
        @DisplayName("without a thread too")
        void oneMaximumAsync() throws Exception {
            Hold c = bob.lock("c").acquire();
            CompletableFuture<MultiHold> waiting = abc.acquireAsync(
                            AcquireOptions.defaults().withMaxWait(Duration.ofSeconds(10)))
                    .toCompletableFuture();
            Eventually.holds("it waits for the last", () -> world.waitersOf("c") == 1);
            world.advance(Duration.ofMillis(9_900));
            assertThat(waiting).isNotDone();

            passesUntil("it is over", waiting::isDone);

            assertThatThrownBy(waiting::join).hasCauseInstanceOf(LockWaitTimeoutException.class);
            holdsNothing();
            c.close();
        }

        @Test
        @Tag("J3")
        @DisplayName("a try does not wait, and empty means that nothing is held")
        void tries() throws Exception {
            Hold b = bob.lock("b").acquire();
            assertThat(caller.call(() -> abc.tryAcquire())).isEmpty();
            holdsNothing();
            assertThat(caller.call(() -> abc.tryAcquire(Duration.ZERO))).isEmpty();
            holdsNothing();
            assertThatThrownBy(() -> caller.call(() -> abc.acquire(Duration.ZERO)))
                    .isInstanceOf(LockWaitTimeoutException.class)
                    .hasMessageContaining("'b'");
            holdsNothing();
            assertThatThrownBy(() -> abc.acquireAsync(AcquireOptions.defaults().withMaxWait(Duration.ZERO))
                            .toCompletableFuture()
                            .join())
                    .hasCauseInstanceOf(LockWaitTimeoutException.class);
            holdsNothing();
            b.close();
        }
    }

    @Nested
    @DisplayName("gives all or nothing")
    class AllOrNothing {

        @Test
        @Tag("J4")
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
        @Tag("J4")
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
        @Tag("J4")
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
        @Tag("J4")
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
        @Tag("J4")
        @DisplayName("what is not confirmed to be given back is suppressed in the failure, and the rest is given back")
        void undoUnconfirmed() throws Exception {
            Hold c = bob.lock("c", LockOptions.barging()).acquire();
            FaultyLink.HeldUp lost = link.holdUpNext(Release.class);
            Doing<MultiHold> acquiring = caller.start(() -> abc.acquire());
            assertThat(((Release) lost.awaitCommand()).resource().value()).isEqualTo("b");
            Eventually.holds("a is given back", () -> world.holderOf("a").isEmpty());
            link.fail(Release.class, Reason.UNAVAILABLE, Effect.NONE);
            lost.fail(Reason.UNAVAILABLE, Effect.UNKNOWN);

            passesUntil("it ends", acquiring::isDone);

            assertThatThrownBy(acquiring::result)
                    .isInstanceOf(LockMismatchException.class)
                    .satisfies(e -> assertThat(e.getSuppressed())
                            .singleElement()
                            .satisfies(undo -> assertThat(undo)
                                    .isInstanceOf(StoreUnavailableException.class)
                                    .hasMessageContaining("'b'")
                                    .hasMessageContaining("given back")));
            assertThat(world.holderOf("a")).isEmpty();
            link.mend();
            passesUntil("the other is given back", () -> world.holderOf("b").isEmpty());
            c.close();
        }

        @Test
        @Tag("J4")
        @DisplayName("a try that could not be confirmed to give back is more than empty")
        void tryUndoUnconfirmed() throws Exception {
            Hold c = bob.lock("c").acquire();
            link.fail(Release.class, Reason.UNAVAILABLE, Effect.NONE);
            Doing<Optional<MultiHold>> trying = caller.start(() -> abc.tryAcquire());

            passesUntil("it ends", trying::isDone);

            assertThatThrownBy(trying::result)
                    .isInstanceOf(StoreUnavailableException.class)
                    .satisfies(e -> assertThat(e.getSuppressed()).hasSize(1));
            link.mend();
            passesUntil(
                    "all is given back",
                    () -> world.holderOf("a").isEmpty() && world.holderOf("b").isEmpty());
            c.close();
        }

        @Test
        @Tag("J4")
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
        @Tag("J4")
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

    @Nested
    @DisplayName("asked for by a thread that holds a part")
    class HeldBefore {

        @Test
        @Tag("J5")
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
        @Tag("J5")
        @DisplayName("does not wait for one that comes before it, but tries, gives back, and tries again")
        void triesEarlierParts() throws Exception {
            Hold b = caller.call(() -> alice.lock("b").acquire());
            Hold a = bob.lock("a").acquire();
            link.forget();
            Doing<MultiHold> acquiring = caller.start(() -> abc.acquire());

            passesUntil("it has tried some times", () -> asked().size() >= 3);

            assertThat(world.waitersOf("a")).isZero();
            assertThat(asked()).containsOnly("a");
            a.close();
            passesUntil("it is granted", acquiring::isDone);
            caller.run(acquiring.result()::close);
            assertThat(b.isHeld()).isTrue();
            caller.run(b::close);
        }

        @Test
        @Tag("J5")
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
        @Tag("J5")
        @DisplayName("two that each hold what the other lacks are parted by their maximum waits")
        void eachHoldsOne() throws Exception {
            Actor other = world.actor("other");
            Hold a = caller.call(() -> alice.lock("a").acquire());
            Hold b = other.call(() -> bob.lock("b").acquire());
            Doing<MultiHold> one = caller.start(() -> alice.lockAll("a", "b").acquire(Duration.ofSeconds(5)));
            Doing<MultiHold> two = other.start(() -> bob.lockAll("a", "b").acquire(Duration.ofSeconds(3)));

            passesUntil("the shorter wait is over", two::isDone);
            assertThatThrownBy(two::result).isInstanceOf(LockWaitTimeoutException.class);
            other.run(b::close);

            MultiHold hold = one.result();
            assertThat(hold.isHeld()).isTrue();
            caller.run(hold::close);
            caller.run(a::close);
        }

        @Test
        @Tag("J5")
        @DisplayName("an interrupt in the pause between two tries ends it")
        void interruptedInPause() throws Exception {
            Hold b = caller.call(() -> alice.lock("b").acquire());
            Hold a = bob.lock("a").acquire();
            link.forget();
            Doing<MultiHold> acquiring = caller.start(() -> abc.acquire());
            passesUntil("it has tried some times", () -> asked().size() >= 3);

            caller.interrupt();

            assertThatThrownBy(acquiring::result).isInstanceOf(InterruptedException.class);
            assertThat(b.isHeld()).isTrue();
            assertThat(caller.<Integer>call(alice.lock("b")::holdCount)).isEqualTo(1);
            a.close();
            caller.run(b::close);
        }

        @Test
        @Tag("J5")
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
        @Tag("J5")
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
    class WhileHeld {

        @Test
        @Tag("J6")
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
        @Tag("J6")
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
        @Tag("J6")
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
        @Tag("J6")
        @DisplayName("a release that is not confirmed is told, and the others are released")
        void releaseUnconfirmed() throws Exception {
            MultiHold hold = caller.call(() -> abc.acquire());
            FaultyLink.HeldUp last = link.holdUpNext(Release.class);
            Doing<Boolean> closing = caller.start(() -> {
                hold.close();
                return true;
            });
            assertThat(((Release) last.awaitCommand()).resource().value()).isEqualTo("c");
            link.fail(Release.class, Reason.UNAVAILABLE, Effect.NONE);
            last.fail(Reason.UNAVAILABLE, Effect.UNKNOWN);

            passesUntil("it ends", closing::isDone);

            assertThatThrownBy(closing::result)
                    .isInstanceOf(StoreUnavailableException.class)
                    .hasMessageContaining("'c'")
                    .satisfies(e -> assertThat(e.getSuppressed()).isEmpty());
            assertThat(holders("a", "b")).containsOnly(Optional.empty());
            link.mend();
            passesUntil("it is released", () -> world.holderOf("c").isEmpty());
        }

        @Test
        @Tag("J6")
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
    class FixedLeases {

        private final Duration lease = Duration.ofSeconds(10);
        private final AcquireOptions options = AcquireOptions.defaults().withFixedLease(lease);

        @Test
        @Tag("J7")
        @DisplayName("has the full lease on every part when the last is granted")
        void fullLease() throws Exception {
            Hold c = bob.lock("c").acquire();
            Doing<MultiHold> waiting = caller.startWaiting(() -> abc.acquire(options));
            Eventually.holds("it waits for the last", () -> world.waitersOf("c") == 1);
            world.advance(Duration.ofSeconds(6));
            c.close();
            passesUntil("it is granted", waiting::isDone);

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
        @Tag("J7")
        @DisplayName("without a thread too")
        void fullLeaseAsync() throws Exception {
            Hold c = bob.lock("c").acquire();
            CompletableFuture<MultiHold> waiting = abc.acquireAsync(options).toCompletableFuture();
            Eventually.holds("it waits for the last", () -> world.waitersOf("c") == 1);
            world.advance(Duration.ofSeconds(6));
            c.close();
            passesUntil("it is granted", waiting::isDone);

            MultiHold hold = waiting.join();
            // Without the extension it would be 3 s; some time has passed since.
            assertThat(hold.remaining()).isGreaterThan(Duration.ofSeconds(7));
            hold.close();
        }

        @Test
        @Tag("J7")
        @DisplayName("begins anew if a lease has run out while others were waited for")
        void ranOut() throws Exception {
            Hold c = bob.lock("c").acquire();
            Doing<MultiHold> waiting = caller.startWaiting(() -> abc.acquire(options));
            Eventually.holds("it waits for the last", () -> world.waitersOf("c") == 1);
            world.advance(Duration.ofSeconds(11));
            assertThat(world.holderOf("a")).isEmpty();
            link.forget();
            c.close();

            passesUntil("it is granted", waiting::isDone);

            assertThat(waiting.result().isHeld()).isTrue();
            assertThat(asked()).containsExactly("a", "b", "c");
            caller.run(waiting.result()::close);
        }

        @Test
        @Tag("J7")
        @DisplayName("and without a thread too")
        void ranOutAsync() throws Exception {
            Hold c = bob.lock("c").acquire();
            CompletableFuture<MultiHold> waiting = abc.acquireAsync(options).toCompletableFuture();
            Eventually.holds("it waits for the last", () -> world.waitersOf("c") == 1);
            world.advance(Duration.ofSeconds(11));
            link.forget();
            c.close();

            passesUntil("it is granted", waiting::isDone);

            assertThat(waiting.join().isHeld()).isTrue();
            assertThat(asked()).containsExactly("a", "b", "c");
            waiting.join().close();
        }

        @Test
        @Tag("J7")
        @DisplayName("until the maximum wait is over")
        void ranOutForGood() throws Exception {
            AcquireOptions limited = options.withMaxWait(Duration.ofSeconds(11));
            Hold c = bob.lock("c").acquire();
            Doing<MultiHold> waiting = caller.startWaiting(() -> abc.acquire(limited));
            Eventually.holds("it waits for the last", () -> world.waitersOf("c") == 1);
            world.advance(Duration.ofMillis(10_800));
            Hold a = bob.lock("a").acquire();
            c.close();

            passesUntil("it is over", waiting::isDone);

            assertThatThrownBy(waiting::result)
                    .isInstanceOf(LockWaitTimeoutException.class)
                    .hasMessageContaining("'a'");
            holdsNothing();
            a.close();
        }

        @Test
        @Tag("J7")
        @DisplayName("gives back if the store does not say that the lease was set")
        void extensionFails() throws Exception {
            link.fail(Extend.class, Reason.UNAVAILABLE, Effect.UNKNOWN);
            assertThatThrownBy(() -> caller.call(() -> abc.acquire(options)))
                    .isInstanceOf(StoreUnavailableException.class);
            holdsNothing();
            assertThatThrownBy(() ->
                            abc.acquireAsync(options).toCompletableFuture().join())
                    .hasCauseInstanceOf(StoreUnavailableException.class);
            Eventually.holds(
                    "it is given back", () -> holders("a", "b", "c").stream().allMatch(Optional::isEmpty));
        }

        @Test
        @Tag("J7")
        @DisplayName("a hold without one can't be extended, whatever the parts")
        void notExtendable() throws Exception {
            try (MultiHold hold = abc.acquire()) {
                assertThatThrownBy(() -> hold.extend(lease))
                        .isInstanceOf(IllegalStateException.class)
                        .satisfies(e -> assertThat(e.getSuppressed()).hasSize(2));
            }
        }
    }

    @Nested
    @DisplayName("takes any kind of lock")
    class Kinds {

        private final DistributedReadWriteLock rw = alice.readWriteLock("rw");
        private final DistributedSemaphore gpus = alice.semaphore("gpus", 4);

        @Test
        @Tag("J1")
        @DisplayName("mutexes, sides of read-write locks and permits, in the order of their names")
        void mixed() throws Exception {
            link.forget();
            MultiLock all = alice.lockAll(rw.readLock(), alice.lock("a"), gpus.permits(3));
            try (MultiHold hold = all.acquire()) {
                assertThat(asked()).containsExactly("a", "gpus", "rw");
                assertThat(hold.names()).containsExactly("a", "gpus", "rw");
                assertThat(gpus.availablePermits()).isEqualTo(1);
                assertThat(bob.readWriteLock("rw").writeLock().tryAcquire()).isEmpty();
                bob.readWriteLock("rw").readLock().tryAcquire().orElseThrow().close();
                assertThat(hold.fencingToken("gpus")).isPositive();
            }
            try (MultiHold hold = alice.lockAll(List.of(rw.writeLock(), gpus.permits(1)))
                    .acquireAsync()
                    .toCompletableFuture()
                    .join()) {
                assertThat(bob.readWriteLock("rw").readLock().tryAcquire()).isEmpty();
                assertThat(hold.isHeld()).isTrue();
            }
        }

        @Test
        @Tag("J9")
        @DisplayName("and the permits of one semaphore as one claim of their sum")
        void sumOfPermits() throws Exception {
            link.forget();
            MultiLock three =
                    alice.lockAll(gpus.permits(1), alice.semaphore("gpus", 4).permits(2));
            try (MultiHold hold = three.acquire()) {
                assertThat(hold.names()).containsExactly("gpus");
                assertThat(link.sent(Acquire.class))
                        .singleElement()
                        .satisfies(acquire -> assertThat(acquire.weight()).isEqualTo(3));
            }
        }

        @Test
        @Tag("J5")
        @DisplayName("a thread that holds either side of a read-write lock holds that part")
        void eitherSide() throws Exception {
            Hold read = caller.call(() -> rw.readLock().acquire());
            Hold a = bob.lock("a").acquire();
            link.forget();
            Doing<MultiHold> acquiring = caller.start(
                    () -> alice.lockAll(alice.lock("a"), rw.readLock()).acquire());
            passesUntil("it has tried some times", () -> asked().size() >= 3);
            assertThat(world.waitersOf("a")).isZero();
            a.close();
            passesUntil("it is granted", acquiring::isDone);
            caller.run(acquiring.result()::close);
            caller.run(read::close);

            Hold write = caller.call(() -> rw.writeLock().acquire());
            MultiHold both = caller.call(
                    () -> alice.lockAll(alice.lock("a"), rw.readLock()).acquire());
            caller.run(both::close);
            caller.run(write::close);
        }

        @Test
        @Tag("J4")
        @DisplayName("and a read hold still can't become a write hold: that fails at once, and nothing is left")
        void upgrade() throws Exception {
            Hold read = caller.call(() -> rw.readLock().acquire());

            assertThatThrownBy(() -> caller.call(
                            () -> alice.lockAll(alice.lock("a"), rw.writeLock()).acquire()))
                    .isInstanceOf(IllegalStateException.class);

            assertThat(world.holderOf("a")).isEmpty();
            assertThat(read.isHeld()).isTrue();
            caller.run(read::close);
        }

        @Test
        @Tag("J7")
        @DisplayName("with leases that outlive the client")
        void detached() throws Exception {
            AcquireOptions options = AcquireOptions.defaults().withDetachedLease(MINUTE);
            MultiHold hold = alice.lockAll(alice.lock("a"), gpus.permits(1)).acquire(options);
            assertThat(hold.effectiveLease()).isEqualTo(MINUTE);
            hold.extend(Duration.ofMinutes(2));
            hold.close();
            world.awaitIdle();
        }
    }

    @Nested
    @DisplayName("refuses odd input before anything is asked")
    class BadInput {

        @Test
        @Tag("J8")
        @DisplayName("no part, a name twice, a name that is none, null, a negative wait, a closed client")
        void refused() {
            link.forget();
            assertThatThrownBy(() -> alice.lockAll(new String[0])).isInstanceOf(IllegalArgumentException.class);
            assertThatThrownBy(() -> alice.lockAll("a", "b", "a"))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("'a' is named twice");
            assertThatThrownBy(() -> alice.lockAll("a", " ")).isInstanceOf(IllegalArgumentException.class);
            assertThatThrownBy(() -> alice.lockAll("a", (String) null)).isInstanceOf(NullPointerException.class);
            assertThatThrownBy(() -> alice.lockAll((String[]) null)).isInstanceOf(NullPointerException.class);
            assertThatThrownBy(() -> abc.acquire(Duration.ofNanos(-1))).isInstanceOf(IllegalArgumentException.class);
            assertThatThrownBy(() -> abc.tryAcquire(Duration.ofNanos(-1))).isInstanceOf(IllegalArgumentException.class);
            assertThatThrownBy(() -> alice.lockAll(List.of())).isInstanceOf(IllegalArgumentException.class);
            assertThatThrownBy(() -> alice.lockAll(new Lockable[0])).isInstanceOf(IllegalArgumentException.class);
            assertThatThrownBy(() -> alice.lockAll(alice.lock("a"), null)).isInstanceOf(NullPointerException.class);
            assertThat(link.sent(Command.OnResource.class)).isEmpty();
            alice.close();
            assertThatThrownBy(() -> alice.lockAll("a")).isInstanceOf(ClientClosedException.class);
            assertThatThrownBy(() -> abc.acquire()).isInstanceOf(ClientClosedException.class);
        }

        @Test
        @Tag("J8")
        @DisplayName(
                "a lock twice, both sides of one, another client's, more permits than there are, and what is no lock")
        void oddParts() {
            DistributedReadWriteLock rw = alice.readWriteLock("rw");
            DistributedSemaphore gpus = alice.semaphore("gpus", 4);
            DistributedSemaphore many = alice.semaphore("many", Integer.MAX_VALUE);
            link.forget();
            refuses("named twice", alice.lock("a"), alice.lock("a"));
            refuses("named twice", rw.readLock(), rw.writeLock());
            refuses("another client", alice.lock("a"), bob.lock("b"));
            refuses("can't acquire 5", gpus.permits(2), gpus.permits(3));
            refuses("can't acquire 4294967294", many.permits(Integer.MAX_VALUE), many.permits(Integer.MAX_VALUE));
            refuses(
                    "different things",
                    gpus.permits(1),
                    alice.semaphore("gpus", 5).permits(1));
            refuses("different things", gpus.permits(1), alice.lock("gpus"));
            refuses("handed out", () -> "a");
            assertThatThrownBy(() -> gpus.permits(5)).isInstanceOf(IllegalArgumentException.class);
            assertThatThrownBy(() -> gpus.permits(0)).isInstanceOf(IllegalArgumentException.class);
            assertThat(link.sent(Command.OnResource.class)).isEmpty();
        }

        private void refuses(String why, Lockable... parts) {
            assertThatThrownBy(() -> alice.lockAll(parts))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining(why);
        }
    }
}
