package dev.holdfast.verification.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.Holdfast;
import dev.holdfast.LockLostException;
import dev.holdfast.LockedTask;
import dev.holdfast.election.Campaign;
import dev.holdfast.election.CampaignOptions;
import dev.holdfast.election.Leadership;
import dev.holdfast.task.TaskOptions;
import dev.holdfast.verification.world.Eventually;
import dev.holdfast.verification.world.World;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Stream;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

@Tag("C2")
@DisplayName("The interrupts of work under several locks of one thread")
class NestedInterruptTest {

    @AutoClose
    private final World world = World.live();

    private final Holdfast holdfast = world.client("alice");

    /** Assertions that failed in work whose lock was lost: a caller of that sees the loss alone. */
    private final List<AssertionError> failures = new CopyOnWriteArrayList<>();

    /** Work under a lock, on the calling thread. */
    @FunctionalInterface
    private interface Work {
        void run(Lost lock) throws InterruptedException;
    }

    /** Loses the lock that work runs under; its thread has been interrupted for that when this returns. */
    @FunctionalInterface
    private interface Lost {
        void now();
    }

    /** A way to run work under a lock, which interrupts it at the loss. */
    private enum Way {
        LOCK {
            @Override
            void run(NestedInterruptTest test, String name, Work work) throws InterruptedException {
                test.holdfast.lock(name).runWhileHeld(hold -> {
                    CountDownLatch isTold = new CountDownLatch(1);
                    hold.onLost(loss -> isTold.countDown());
                    work.run(() -> test.releaseByForce(name, isTold));
                });
            }
        },
        TASK {
            @Override
            void run(NestedInterruptTest test, String name, Work work) throws InterruptedException {
                LockedTask<Boolean, InterruptedException> task = hold -> {
                    CountDownLatch isTold = new CountDownLatch(1);
                    hold.onLost(loss -> isTold.countDown());
                    work.run(() -> test.releaseByForce(name, isTold));
                    return true;
                };
                var unused = test.holdfast.task(name).callIfDue(TaskOptions.atMost(Duration.ofHours(1)), task);
            }
        },
        ELECTION {
            @Override
            void run(NestedInterruptTest test, String name, Work work) throws InterruptedException {
                LinkedBlockingQueue<Runnable> steps = new LinkedBlockingQueue<>();
                AtomicReference<Throwable> failure = new AtomicReference<>();
                AtomicBoolean isOver = new AtomicBoolean();
                // The calling thread runs the candidate.
                CampaignOptions options = CampaignOptions.defaults().withExecutor(steps::add);
                try (var campaign = test.holdfast.election(name).campaign(options, leadership -> {
                    try {
                        work.run(() -> assertThat(leadership.resign()).isTrue());
                    } catch (Throwable t) {
                        failure.set(t);
                    } finally {
                        isOver.set(true);
                    }
                })) {
                    while (!isOver.get()) {
                        takeUninterruptibly(steps).run();
                    }
                    var unused = campaign.closeAsync();
                    while (campaign.state() != Campaign.State.ENDED) {
                        Runnable step = steps.poll();
                        if (step != null) {
                            step.run();
                        }
                        Thread.onSpinWait();
                    }
                }
                if (failure.get() instanceof InterruptedException e) {
                    throw e;
                } else if (failure.get() instanceof RuntimeException e) {
                    throw e;
                } else if (failure.get() instanceof Error e) {
                    throw e;
                }
            }
        };

        abstract void run(NestedInterruptTest test, String name, Work work) throws InterruptedException;

        boolean isFailedByLoss() {
            return this != ELECTION;
        }
    }

    private static Runnable takeUninterruptibly(LinkedBlockingQueue<Runnable> steps) {
        Runnable step = steps.poll();
        while (step == null) {
            Thread.onSpinWait();
            step = steps.poll();
        }
        return step;
    }

    /** As an operator does; returns when the thread was interrupted, which is before listeners are called. */
    private void releaseByForce(String name, CountDownLatch isTold) {
        world.releaseByForce(name);
        Eventually.holds("the loss of " + name + " is told", () -> isTold.getCount() == 0);
    }

    private static boolean isFlagged() {
        return Thread.currentThread().isInterrupted();
    }

    static Stream<Arguments> nestings() {
        List<Arguments> nestings = new ArrayList<>();
        for (boolean isVirtual : Runtime.version().feature() >= 21 ? List.of(false, true) : List.of(false)) {
            for (Way outer : Way.values()) {
                for (Way inner : Way.values()) {
                    nestings.add(Arguments.of(outer, inner, isVirtual));
                }
            }
        }
        return nestings.stream();
    }

    /** Runs the test on a new thread, then checks whether an interrupt is left. */
    private void onThread(boolean isVirtual, boolean isInterruptedAfterwards, Callable<?> test) throws Exception {
        FutureTask<Boolean> whole = new FutureTask<>(() -> {
            test.call();
            return Thread.interrupted();
        });
        if (isVirtual) {
            // By reflection, because this is compiled for Java 17.
            Thread.class.getMethod("startVirtualThread", Runnable.class).invoke(null, whole);
        } else {
            new Thread(whole, "worker").start();
        }
        boolean isInterrupted = whole.get(Eventually.DEADLINE.toNanos(), TimeUnit.NANOSECONDS);
        assertThat(failures).isEmpty();
        assertThat(isInterrupted).as("interrupted when all work has ended").isEqualTo(isInterruptedAfterwards);
    }

    private void run(Way way, String name, Work work) throws InterruptedException {
        way.run(this, name, lock -> {
            try {
                work.run(lock);
            } catch (AssertionError e) {
                failures.add(e);
                throw e;
            }
        });
    }

    /** Runs work whose lock is lost. */
    private void runLost(Way way, String name, Work work) throws InterruptedException {
        if (way.isFailedByLoss()) {
            assertThatThrownBy(() -> run(way, name, work))
                    .isInstanceOfSatisfying(
                            LockLostException.class,
                            e -> assertThat(e.loss().name()).isEqualTo(name));
        } else {
            run(way, name, work);
        }
    }

    @ParameterizedTest(name = "{1} in {0}, virtual thread: {2}")
    @MethodSource("nestings")
    @DisplayName(
            "tell the outer work of its loss though the inner work ends, whether that swallows the interrupt or not")
    void outerLost(Way outer, Way inner, boolean isVirtual) throws Exception {
        for (boolean isSwallowed : List.of(false, true)) {
            onThread(isVirtual, false, () -> {
                runLost(outer, "outer" + isSwallowed, outerLock -> {
                    run(inner, "inner" + isSwallowed, innerLock -> {
                        outerLock.now();
                        assertThat(isFlagged()).isTrue();
                        if (isSwallowed) {
                            assertThat(Thread.interrupted()).isTrue();
                        }
                    });
                    assertThat(isFlagged()).isTrue();
                });
                return true;
            });
        }
    }

    @ParameterizedTest(name = "{1} in {0}, virtual thread: {2}")
    @MethodSource("nestings")
    @DisplayName("end with the inner work if its lock alone is lost")
    void innerLost(Way outer, Way inner, boolean isVirtual) throws Exception {
        for (boolean isSwallowed : List.of(false, true)) {
            onThread(isVirtual, false, () -> {
                run(outer, "outer" + isSwallowed, outerLock -> {
                    runLost(inner, "inner" + isSwallowed, innerLock -> {
                        innerLock.now();
                        assertThat(isFlagged()).isTrue();
                        if (isSwallowed) {
                            assertThat(Thread.interrupted()).isTrue();
                        }
                    });
                    assertThat(isFlagged()).isFalse();
                });
                return true;
            });
        }
    }

    @ParameterizedTest(name = "{1} in {0}, virtual thread: {2}")
    @MethodSource("nestings")
    @DisplayName("tell both of their losses, in whatever order these come and are swallowed")
    void bothLost(Way outer, Way inner, boolean isVirtual) throws Exception {
        for (boolean isOuterFirst : List.of(false, true)) {
            for (boolean isSwallowedBetween : List.of(false, true)) {
                for (boolean isSwallowedAtEnd : List.of(false, true)) {
                    String suffix = "-" + isOuterFirst + isSwallowedBetween + isSwallowedAtEnd;
                    onThread(isVirtual, false, () -> {
                        runLost(outer, "outer" + suffix, outerLock -> {
                            runLost(inner, "inner" + suffix, innerLock -> {
                                (isOuterFirst ? outerLock : innerLock).now();
                                assertThat(isFlagged()).isTrue();
                                if (isSwallowedBetween) {
                                    assertThat(Thread.interrupted()).isTrue();
                                }
                                (isOuterFirst ? innerLock : outerLock).now();
                                assertThat(isFlagged()).isTrue();
                                if (isSwallowedAtEnd) {
                                    assertThat(Thread.interrupted()).isTrue();
                                }
                            });
                            assertThat(isFlagged()).isTrue();
                        });
                        return true;
                    });
                }
            }
        }
    }

    @ParameterizedTest(name = "{1} in {0}, virtual thread: {2}")
    @MethodSource("nestings")
    @DisplayName("reach the outer work when its lock is lost after the end of an inner work whose lock was lost")
    void outerLostAfterwards(Way outer, Way inner, boolean isVirtual) throws Exception {
        onThread(isVirtual, false, () -> {
            runLost(outer, "outer", outerLock -> {
                runLost(inner, "inner", Lost::now);
                assertThat(isFlagged()).isFalse();
                outerLock.now();
                assertThat(isFlagged()).isTrue();
            });
            return true;
        });
    }

    @ParameterizedTest(name = "{1} in {0}, virtual thread: {2}")
    @MethodSource("nestings")
    @DisplayName("leave an interrupt by others that came before the losses")
    void interruptedByOthers(Way outer, Way inner, boolean isVirtual) throws Exception {
        onThread(isVirtual, true, () -> {
            runLost(outer, "outer", outerLock -> {
                runLost(inner, "inner", innerLock -> {
                    Thread.currentThread().interrupt();
                    innerLock.now();
                    outerLock.now();
                });
                assertThat(isFlagged()).isTrue();
            });
            return true;
        });
    }

    @ParameterizedTest(name = "{1} in {0}, virtual thread: {2}")
    @MethodSource("nestings")
    @DisplayName("are told once: an InterruptedException that reaches the outer work comes without the flag")
    void toldByException(Way outer, Way inner, boolean isVirtual) throws Exception {
        onThread(isVirtual, false, () -> {
            runLost(outer, "outer", outerLock -> {
                assertThatThrownBy(() -> run(inner, "inner", innerLock -> {
                            outerLock.now();
                            TimeUnit.HOURS.sleep(1);
                        }))
                        .isInstanceOf(InterruptedException.class);
                if (inner != Way.ELECTION) {
                    assertThat(isFlagged()).isFalse();
                    run(inner, "cleanup", innerLock -> assertThat(isFlagged()).isFalse());
                    assertThat(isFlagged()).isFalse();
                }
            });
            return true;
        });
    }

    @Test
    @DisplayName("reach each of three, outermost lost first")
    void three() throws Exception {
        onThread(false, false, () -> {
            runLost(Way.LOCK, "first", first -> {
                runLost(Way.LOCK, "second", second -> {
                    run(Way.LOCK, "third", third -> {
                        first.now();
                        second.now();
                        assertThat(Thread.interrupted()).isTrue();
                    });
                    assertThat(isFlagged()).isTrue();
                });
                assertThat(isFlagged()).isTrue();
            });
            return true;
        });
    }

    @Test
    @DisplayName("reach the outer of two acquisitions of the same lock")
    void reentrant() throws Exception {
        onThread(false, false, () -> {
            runLost(Way.LOCK, "ledger", outer -> {
                runLost(Way.LOCK, "ledger", Lost::now);
                assertThat(isFlagged()).isTrue();
            });
            return true;
        });
    }

    @Test
    @DisplayName("stay when a candidate awaits the end of its term under a lock that is lost, too")
    void awaitEndUnderALostLock() throws Exception {
        CompletableFuture<Boolean> isInterrupted = new CompletableFuture<>();
        try (var campaign = holdfast.election("scheduler").campaign(leadership -> {
            try {
                leadUnderALostLock(leadership);
                isInterrupted.complete(isFlagged());
            } catch (Throwable t) {
                isInterrupted.completeExceptionally(t);
            }
        })) {
            assertThat(isInterrupted.get(Eventually.DEADLINE.toNanos(), TimeUnit.NANOSECONDS))
                    .isFalse();
            assertThat(campaign.name()).isEqualTo("scheduler");
        }
        assertThat(failures).isEmpty();
    }

    private void leadUnderALostLock(Leadership leadership) throws InterruptedException {
        runLost(Way.LOCK, "ledger", lock -> {
            lock.now();
            assertThat(leadership.resign()).isTrue();
            assertThat(leadership.awaitEnd()).isNotNull();
            assertThat(isFlagged()).isTrue();
        });
    }
}
