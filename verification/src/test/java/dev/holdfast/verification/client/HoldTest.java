package dev.holdfast.verification.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.AcquireOptions;
import dev.holdfast.Hold;
import dev.holdfast.LockLostException;
import dev.holdfast.Loss;
import dev.holdfast.ReleaseOutcome;
import dev.holdfast.spi.Command;
import dev.holdfast.verification.world.Actor;
import dev.holdfast.verification.world.Eventually;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@DisplayName("A hold")
class HoldTest extends HoldFixture {

    @Nested
    @DisplayName("that is good")
    class Good {

        @Test
        @DisplayName("says so, with its token, its lease, and what is left of it")
        void tells() throws InterruptedException {
            Hold hold = lock.acquire();

            assertThat(hold.name()).isEqualTo("ledger");
            assertThat(hold.isHeld()).isTrue();
            hold.ensureHeld();
            assertThat(hold.fencingToken()).isPositive().isEqualTo(hold.fencingToken());
            assertThat(hold.effectiveLease()).isEqualTo(Duration.ofSeconds(30));
            // A tenth is given up as the margin.
            assertThat(hold.remaining()).isEqualTo(Duration.ofSeconds(27));
            world.advance(Duration.ofSeconds(1));
            assertThat(hold.remaining()).isEqualTo(Duration.ofSeconds(26));
            hold.close();
        }

        @Test
        @DisplayName("is renewed for as long as it is held, a third of the ttl apart")
        @Tag("C14")
        void isRenewed() throws InterruptedException {
            Hold hold = lock.acquire();
            for (int i = 0; i < 100; i++) {
                world.advance(Duration.ofSeconds(7));
                assertThat(hold.isHeld()).isTrue();
                assertThat(hold.remaining()).isGreaterThanOrEqualTo(Duration.ofSeconds(17));
            }
            hold.close();
        }

        @Test
        @DisplayName("has an id that no other grant has, and a re-entrant one has that of the outer one")
        void idsTellGrantsApart() throws InterruptedException {
            Hold outer = lock.acquire();
            try (Hold inner = lock.acquire()) {
                assertThat(inner.holdId()).isEqualTo(outer.holdId());
            }
            outer.close();
            assertThat(outer.holdId()).matches("[!-~]{1,300}");
            try (Hold bounded = lock.acquire(AcquireOptions.defaults().withMaxHold(Duration.ofSeconds(9)))) {
                assertThat(bounded.holdId()).isNotEqualTo(outer.holdId());
            }
            try (Hold elsewhere = world.client("bob").lock("other").acquire()) {
                assertThat(elsewhere.holdId()).isNotEqualTo(outer.holdId());
            }
        }

        @Test
        @DisplayName("has a greater token than all before it")
        @Tag("C4")
        void tokensRise() throws InterruptedException {
            long last = 0;
            for (int i = 0; i < 100; i++) {
                try (Hold hold = lock.acquire()) {
                    assertThat(hold.fencingToken()).isGreaterThan(last);
                    last = hold.fencingToken();
                }
            }
        }
    }

    @Nested
    @DisplayName("that was closed")
    class Closed {

        @Test
        @DisplayName("says so, and gives no token any more")
        void tells() throws InterruptedException {
            Hold hold = lock.acquire();
            hold.close();

            assertThat(hold.isHeld()).isFalse();
            assertThat(hold.remaining()).isZero();
            assertThat(hold.name()).isEqualTo("ledger");
            assertThatThrownBy(hold::fencingToken)
                    .isInstanceOf(IllegalStateException.class)
                    .isNotInstanceOf(dev.holdfast.HoldfastException.class);
            assertThatThrownBy(hold::ensureHeld).isInstanceOf(IllegalStateException.class);
            assertThatThrownBy(() -> hold.extend(Duration.ofSeconds(1))).isInstanceOf(IllegalStateException.class);
        }

        @Test
        @DisplayName("is not lost later, whatever happens to the session")
        @Tag("C13")
        void noLossAfterwards() throws Exception {
            List<Loss> losses = new CopyOnWriteArrayList<>();
            Hold hold = lock.acquire();
            hold.onLost(losses::add);
            hold.close();
            hold.onLost(losses::add);

            link.cut();
            world.advance(Duration.ofMinutes(2));

            assertThat(losses).isEmpty();
            assertThat(hold.releaseAsync().toCompletableFuture().get(60, TimeUnit.SECONDS))
                    .isEqualTo(ReleaseOutcome.RELEASED);
        }

        @Test
        @DisplayName("before a nested one is over, though its lock is still held until that is closed too")
        void closedBeforeANestedOne() throws Exception {
            Hold outer = lock.acquire(AcquireOptions.defaults().withFixedLease(Duration.ofSeconds(10)));
            Hold inner = lock.acquire();
            outer.close();

            assertThat(inner.isHeld()).isTrue();
            assertThat(outer.isHeld()).isFalse();
            assertThatThrownBy(outer::ensureHeld)
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("was released");
            assertThatThrownBy(() -> outer.extend(Duration.ofSeconds(20)))
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("was released");
            assertThat(link.sent(Command.Extend.class)).isEmpty();
            assertThat(outer.releaseAsync().toCompletableFuture().get(60, TimeUnit.SECONDS))
                    .isEqualTo(ReleaseOutcome.STILL_HELD);
            inner.close();
            assertThat(outer.releaseAsync().toCompletableFuture().get(60, TimeUnit.SECONDS))
                    .isEqualTo(ReleaseOutcome.RELEASED);
        }

        @Test
        @DisplayName("is closed once, though many threads close it at the same moment")
        @Tag("C13")
        void closedByManyAtOnce() throws Exception {
            for (int round = 0; round < 200; round++) {
                Hold hold = lock.acquireAsync().toCompletableFuture().get(60, TimeUnit.SECONDS);
                link.forget();
                CyclicBarrier start = new CyclicBarrier(2);
                Actor bob = world.actor("bob-" + round);
                var theirs = bob.start(() -> {
                    start.await();
                    hold.close();
                    return true;
                });
                start.await();
                hold.close();
                theirs.result();
                bob.close();

                assertThat(link.sent(Command.Release.class)).hasSize(1);
                assertThat(hold.isHeld()).isFalse();
            }
            world.awaitIdle();
        }
    }

    @Nested
    @DisplayName("that was lost")
    @Tag("C2")
    class Lost {

        private Hold losesOne() throws InterruptedException {
            Hold hold = lock.acquire();
            world.releaseByForce("ledger");
            assertThat(hold.isHeld()).isFalse();
            return hold;
        }

        @Test
        @DisplayName("says so: its token, which is stale, is only to be had from the loss")
        void tells() throws InterruptedException {
            Hold hold = lock.acquire();
            long token = hold.fencingToken();
            world.releaseByForce("ledger");

            assertThat(hold.remaining()).isZero();
            assertThat(hold.isHeld()).isFalse();
            assertThat(lock.isHeldByCurrentThread()).isFalse();
            assertThat(lock.holdCount()).isEqualTo(1);
            assertThatThrownBy(hold::ensureHeld).isInstanceOf(LockLostException.class);
            assertThatThrownBy(hold::fencingToken).isInstanceOfSatisfying(LockLostException.class, e -> {
                assertThat(e.loss()).isEqualTo(new Loss("ledger", "memory", token, Loss.Cause.REMOVED));
                assertThat(e).hasMessageContainingAll("ledger", Long.toString(token), "memory");
            });
            assertThatThrownBy(hold::close).isInstanceOf(LockLostException.class);
            assertThat(lock.holdCount()).isZero();
        }

        @Test
        @DisplayName("can't be entered again by its owner, by any form, before it has closed it; then it can")
        void reentry() throws InterruptedException {
            Hold hold = losesOne();

            assertThatThrownBy(lock::lock).isInstanceOf(LockLostException.class);
            assertThatThrownBy(lock::tryLock).isInstanceOf(LockLostException.class);
            assertThatThrownBy(lock::acquire).isInstanceOf(LockLostException.class);
            assertThatThrownBy(() -> lock.tryAcquire(Duration.ofSeconds(1))).isInstanceOf(LockLostException.class);
            assertThat(lock.holdCount()).isEqualTo(1);

            assertThatThrownBy(hold::close).isInstanceOf(LockLostException.class);
            lock.acquire().close();
        }

        @Test
        @DisplayName("does not keep other threads of the process out")
        void othersGoOn() throws Exception {
            Hold hold = losesOne();
            Actor bob = world.actor("bob");

            Hold theirs = bob.call(() -> lock.acquire());

            assertThat(theirs.isHeld()).isTrue();
            assertThatThrownBy(hold::close).isInstanceOf(LockLostException.class);
            assertThat(theirs.isHeld()).isTrue();
            bob.run(theirs::close);
        }

        @Test
        @DisplayName("is closed as often as it was acquired; each inner release tells the loss")
        void nested() throws InterruptedException {
            Hold outer = lock.acquire();
            Hold inner = lock.acquire();
            world.releaseByForce("ledger");

            assertThatThrownBy(inner::fencingToken).isInstanceOf(LockLostException.class);
            assertThat(inner.isHeld()).isFalse();
            assertThatThrownBy(inner::close).isInstanceOf(LockLostException.class);
            assertThat(lock.holdCount()).isEqualTo(1);
            assertThatThrownBy(outer::close).isInstanceOf(LockLostException.class);
            assertThat(lock.holdCount()).isZero();
        }

        @Test
        @DisplayName("is told as an outcome by releaseAsync, which never throws for it")
        void releaseAsync() throws Exception {
            Hold hold = losesOne();

            CompletionStage<ReleaseOutcome> first = hold.releaseAsync();

            assertThat(first.toCompletableFuture().get(60, TimeUnit.SECONDS)).isEqualTo(ReleaseOutcome.LOST);
            assertThat(hold.releaseAsync().toCompletableFuture().get(60, TimeUnit.SECONDS))
                    .isEqualTo(ReleaseOutcome.LOST);
            hold.close();
            assertThat(lock.holdCount()).isZero();
        }

        @Test
        @DisplayName("though nobody had noticed before the release, is told by the release")
        void noticedByTheRelease() throws Exception {
            link.loseSignals();
            Hold hold = lock.acquire();
            world.releaseByForce("ledger");
            assertThat(hold.isHeld()).isTrue();

            assertThatThrownBy(hold::close)
                    .isInstanceOfSatisfying(
                            LockLostException.class,
                            e -> assertThat(e.loss().cause()).isEqualTo(Loss.Cause.REMOVED));
        }
    }

    @Nested
    @DisplayName("tells its loss to listeners")
    @Tag("C2")
    class Listeners {

        @Test
        @DisplayName("once each, off the thread that caused it, when the hold already says that it is lost")
        void onceOffTheThread() throws InterruptedException {
            List<String> told = new CopyOnWriteArrayList<>();
            Hold hold = lock.acquire();
            for (int i = 0; i < 3; i++) {
                hold.onLost(
                        loss -> told.add(Thread.currentThread().getName() + " " + loss.cause() + " " + hold.isHeld()));
            }

            world.releaseByForce("ledger");
            world.time().settle();

            assertThat(told)
                    .containsExactly(
                            "manual-callbacks REMOVED false",
                            "manual-callbacks REMOVED false",
                            "manual-callbacks REMOVED false");
            assertThatThrownBy(hold::close).isInstanceOf(LockLostException.class);
            world.advance(Duration.ofMinutes(2));
            assertThat(told).hasSize(3);
        }

        @Test
        @DisplayName("at once, to one that is named after the loss, before or after the close")
        void namedAfterwards() throws InterruptedException {
            List<Loss> told = new CopyOnWriteArrayList<>();
            Hold hold = lock.acquire();
            world.releaseByForce("ledger");

            hold.onLost(told::add);
            world.time().settle();
            assertThat(told).hasSize(1);

            assertThatThrownBy(hold::close).isInstanceOf(LockLostException.class);
            hold.onLost(told::add);
            world.time().settle();
            assertThat(told).hasSize(2);
        }

        @Test
        @DisplayName("one that throws does not keep the others from being told")
        void throwing() throws InterruptedException {
            AtomicInteger told = new AtomicInteger();
            Hold hold = lock.acquire();
            hold.onLost(loss -> {
                throw new IllegalStateException("thrown by a listener of the test");
            });
            hold.onLost(loss -> told.incrementAndGet());

            world.releaseByForce("ledger");
            world.time().settle();

            assertThat(told).hasValue(1);
            assertThatThrownBy(hold::close).isInstanceOf(LockLostException.class);
        }

        @Test
        @DisplayName("one that closes the client may do so, and learns that it is closed")
        void closingTheClient() throws InterruptedException {
            CompletableFuture<String> closed = new CompletableFuture<>();
            Hold hold = lock.acquire();
            Hold other = holdfast.lock("other").acquire();
            hold.onLost(loss -> {
                holdfast.close();
                closed.complete("other is held: " + other.isHeld());
            });

            world.releaseByForce("ledger");

            Eventually.holds("the listener has closed the client", closed::isDone);
            assertThat(closed.join()).isEqualTo("other is held: false");
            world.awaitIdle();
        }

        @Test
        @DisplayName("one that was named through a nested handle that is closed by then is not told")
        void namedThroughAClosedHandle() throws InterruptedException {
            List<String> told = new CopyOnWriteArrayList<>();
            Hold outer = lock.acquire();
            outer.onLost(loss -> told.add("outer"));
            Hold inner = lock.acquire();
            inner.onLost(loss -> told.add("inner"));
            inner.close();
            inner.onLost(loss -> told.add("inner, once closed"));

            world.releaseByForce("ledger");
            world.time().settle();

            assertThat(told).containsExactly("outer");
            assertThatThrownBy(outer::close).isInstanceOf(LockLostException.class);
        }

        @Test
        @DisplayName("one that was named through the outermost handle is not told when only a nested one is open")
        void namedThroughTheClosedOutermostHandle() throws InterruptedException {
            List<String> told = new CopyOnWriteArrayList<>();
            Hold outer = lock.acquire();
            outer.onLost(loss -> told.add("outer"));
            Hold inner = lock.acquire();
            inner.onLost(loss -> told.add("inner"));
            outer.close();

            world.releaseByForce("ledger");
            world.time().settle();

            assertThat(told).containsExactly("inner");
            assertThatThrownBy(inner::close).isInstanceOf(LockLostException.class);
        }
    }

    @Nested
    @DisplayName("of an asynchronous acquisition")
    class Async {

        @Test
        @DisplayName("may be closed by any thread, and unlock() is not the way to do it")
        void closedByAnyThread() throws Exception {
            Hold hold = lock.acquireAsync().toCompletableFuture().get(60, TimeUnit.SECONDS);
            Actor bob = world.actor("bob");

            assertThat(lock.isHeldByCurrentThread()).isFalse();
            assertThat(lock.holdCount()).isZero();
            assertThatThrownBy(lock::unlock).isInstanceOf(dev.holdfast.NotOwnerException.class);
            assertThat(hold.isHeld()).isTrue();

            bob.run(hold::close);

            assertThat(hold.isHeld()).isFalse();
            world.awaitIdle();
        }
    }
}
