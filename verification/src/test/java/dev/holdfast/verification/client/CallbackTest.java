package dev.holdfast.verification.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.DistributedLock;
import dev.holdfast.Environment;
import dev.holdfast.Hold;
import dev.holdfast.Holdfast;
import dev.holdfast.LockLostException;
import dev.holdfast.Loss;
import dev.holdfast.task.TaskHold;
import dev.holdfast.task.TaskOptions;
import dev.holdfast.verification.world.FaultyLink;
import dev.holdfast.verification.world.World;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@DisplayName("What users do in callbacks never stops the client")
class CallbackTest {

    @AutoClose
    private final World world = World.still();

    private final FaultyLink link = world.link();
    private final List<Loss.Cause> told = new CopyOnWriteArrayList<>();

    /** An environment of the test's, but for the executor of the callbacks. */
    private Holdfast clientWith(Executor callbacks) {
        Environment inner = world.time();
        return world.client(world.builder("alice", link).environment(new Environment() {
            @Override
            public long monotonicNanos() {
                return inner.monotonicNanos();
            }

            @Override
            public long bootNanos() {
                return inner.bootNanos();
            }

            @Override
            public long wallMillis() {
                return inner.wallMillis();
            }

            @Override
            public Timer schedule(long delayNanos, Runnable task) {
                return inner.schedule(delayNanos, task);
            }

            @Override
            public void parkUntil(Object blocker, long deadline) {
                inner.parkUntil(blocker, deadline);
            }

            @Override
            public Executor callbacks() {
                return callbacks;
            }

            @Override
            public long randomLong() {
                return inner.randomLong();
            }
        }));
    }

    @Test
    @DisplayName("a listener that blocks stops no renewal and no other lock")
    @Tag("C14")
    void blockingListener() throws Exception {
        CountDownLatch go = new CountDownLatch(1);
        Holdfast holdfast = clientWith(task -> new Thread(task, "callback").start());
        Hold lost = holdfast.lock("lost").acquire();
        Hold kept = holdfast.lock("kept").acquire();
        lost.onLost(loss -> {
            try {
                go.await();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        });
        world.releaseByForce("lost");

        world.advance(Duration.ofMinutes(5));

        assertThat(kept.isHeld()).isTrue();
        holdfast.lock("another").acquire().close();
        go.countDown();
        kept.close();
        assertThatThrownBy(lost::close).isInstanceOf(LockLostException.class);
    }

    @Nested
    @DisplayName("An executor that refuses tasks")
    class Refusing {

        private final Holdfast holdfast = clientWith(task -> {
            throw new RejectedExecutionException("the executor of the test");
        });
        private final DistributedLock lock = holdfast.lock("ledger");

        @Test
        @DisplayName("loses no grant: the stage ends all the same")
        void grant() throws Exception {
            CompletableFuture<Hold> first = lock.acquireAsync().toCompletableFuture();
            Hold hold = first.get(60, TimeUnit.SECONDS);
            CompletableFuture<Hold> second = lock.acquireAsync().toCompletableFuture();
            hold.close();
            second.get(60, TimeUnit.SECONDS).close();
        }

        @Test
        @DisplayName("loses no loss: every listener is told, and what waits goes on")
        @Tag("C2")
        void loss() throws Exception {
            Hold hold = lock.acquire();
            hold.onLost(loss -> told.add(loss.cause()));
            hold.onLost(loss -> told.add(loss.cause()));
            CompletableFuture<Hold> waiting = lock.acquireAsync().toCompletableFuture();

            world.releaseByForce("ledger");

            assertThat(told).containsExactly(Loss.Cause.REMOVED, Loss.Cause.REMOVED);
            waiting.get(60, TimeUnit.SECONDS).close();
            assertThatThrownBy(hold::close).isInstanceOf(LockLostException.class);
        }
    }

    @Test
    @DisplayName("An executor that runs nothing keeps no task from its lock: the engine does not wait for it")
    void engineDoesNotWaitForCallbacks() throws Exception {
        Holdfast holdfast = clientWith(task -> {});
        TaskOptions options = TaskOptions.atMost(Duration.ofMinutes(1));

        TaskHold hold = world.actor("runner")
                .call(() -> holdfast.task("report").tryBegin(options).orElseThrow());

        assertThat(hold.isHeld()).isTrue();
        hold.close();
    }

    @Nested
    @DisplayName("An executor that runs tasks at once")
    class Direct {

        private final Holdfast holdfast = clientWith(Runnable::run);
        private final DistributedLock lock = holdfast.lock("ledger");

        @Test
        @DisplayName("lets a callback acquire and release, of the same lock too")
        void callbackThatAcquires() throws Exception {
            Hold first = lock.acquire();
            CompletableFuture<Long> chain = lock.acquireAsync()
                    .thenCompose(hold -> {
                        hold.close();
                        return lock.acquireAsync();
                    })
                    .thenApply(hold -> {
                        long token = hold.fencingToken();
                        hold.close();
                        assertThat(lock.tryLock()).isTrue();
                        lock.unlock();
                        return token;
                    })
                    .toCompletableFuture();
            first.close();
            assertThat(chain.get(60, TimeUnit.SECONDS)).isPositive();
            world.awaitIdle();
        }

        @Test
        @DisplayName("lets a listener that throws an error do no harm to the next, nor to the client")
        void listenerThatThrowsAnError() throws Exception {
            Hold hold = lock.acquire();
            hold.onLost(loss -> {
                throw new AssertionError("thrown by a listener of the test");
            });
            hold.onLost(loss -> told.add(loss.cause()));
            CompletableFuture<Hold> waiting = lock.acquireAsync().toCompletableFuture();

            world.releaseByForce("ledger");

            assertThat(told).containsExactly(Loss.Cause.REMOVED);
            waiting.get(60, TimeUnit.SECONDS).close();
            assertThatThrownBy(hold::close).isInstanceOf(LockLostException.class);
        }
    }
}
