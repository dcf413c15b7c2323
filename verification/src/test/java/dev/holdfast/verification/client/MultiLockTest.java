package dev.holdfast.verification.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.AcquireOptions;
import dev.holdfast.ClientClosedException;
import dev.holdfast.DistributedLock;
import dev.holdfast.DistributedReadWriteLock;
import dev.holdfast.DistributedSemaphore;
import dev.holdfast.Hold;
import dev.holdfast.LockWaitTimeoutException;
import dev.holdfast.Lockable;
import dev.holdfast.MultiHold;
import dev.holdfast.MultiLock;
import dev.holdfast.NotOwnerException;
import dev.holdfast.ReleaseOutcome;
import dev.holdfast.spi.Command;
import dev.holdfast.spi.Command.Acquire;
import dev.holdfast.verification.world.Actor;
import dev.holdfast.verification.world.Actor.Doing;
import dev.holdfast.verification.world.Eventually;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@DisplayName("A multi-lock")
class MultiLockTest extends MultiLockFixture {

    @Nested
    @DisplayName("gives all parts")
    @Tag("J1")
    class Giving {

        @Test
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
    @Tag("J2")
    class Order {

        @Test
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
    @Tag("J3")
    class Waiting {

        @Test
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
        @DisplayName("without a thread too")
        void oneMaximumAsync() throws Exception {
            Hold c = bob.lock("c").acquire();
            CompletableFuture<MultiHold> waiting = abc.acquireAsync(
                            AcquireOptions.defaults().withMaxWait(Duration.ofSeconds(10)))
                    .toCompletableFuture();
            Eventually.holds("it waits for the last", () -> world.waitersOf("c") == 1);
            world.advance(Duration.ofMillis(9_900));
            assertThat(waiting).isNotDone();

            world.advanceUntil("it is over", waiting::isDone);

            assertThatThrownBy(waiting::join).hasCauseInstanceOf(LockWaitTimeoutException.class);
            holdsNothing();
            c.close();
        }

        @Test
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
            world.advanceUntil("it has tried some times", () -> asked().size() >= 3);
            assertThat(world.waitersOf("a")).isZero();
            a.close();
            world.advanceUntil("it is granted", acquiring::isDone);
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
    @Tag("J8")
    class BadInput {

        @Test
        @DisplayName("no part, a name twice, a name that is none, null, a negative wait, a closed client")
        void refused() {
            link.forget();
            assertThatThrownBy(() -> alice.lockAll(new String[0])).isInstanceOf(IllegalArgumentException.class);
            assertThatThrownBy(() -> alice.lockAll("a", "b", "a"))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("'a' is listed twice");
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
        @DisplayName(
                "a lock twice, both sides of one, another client's, more permits than there are, and what is no lock")
        void oddParts() {
            DistributedReadWriteLock rw = alice.readWriteLock("rw");
            DistributedSemaphore gpus = alice.semaphore("gpus", 4);
            DistributedSemaphore many = alice.semaphore("many", Integer.MAX_VALUE);
            link.forget();
            refuses("listed twice", alice.lock("a"), alice.lock("a"));
            refuses("listed twice", rw.readLock(), rw.writeLock());
            refuses("another client", alice.lock("a"), bob.lock("b"));
            refuses("can't acquire 5", gpus.permits(2), gpus.permits(3));
            refuses("can't acquire 4294967294", many.permits(Integer.MAX_VALUE), many.permits(Integer.MAX_VALUE));
            refuses(
                    "as different kinds",
                    gpus.permits(1),
                    alice.semaphore("gpus", 5).permits(1));
            refuses("as different kinds", gpus.permits(1), alice.lock("gpus"));
            refuses("created by a Holdfast client", () -> "a");
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
