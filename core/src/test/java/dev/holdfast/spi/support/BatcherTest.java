package dev.holdfast.spi.support;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.spi.CallerMode;
import dev.holdfast.spi.Command;
import dev.holdfast.spi.Reply;
import dev.holdfast.spi.SessionId;
import dev.holdfast.spi.StoreException;
import dev.holdfast.spi.StoreException.Effect;
import dev.holdfast.spi.StoreException.Reason;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class BatcherTest {

    private static final Reply DONE = new Reply.Done();

    private final ExecutorService executor = Executors.newCachedThreadPool();
    private final List<List<Command>> batches = new ArrayList<>();

    @AfterEach
    void endThreads() {
        executor.shutdownNow();
    }

    private static Command command(int n) {
        return new Command.Retire(new SessionId("s" + n));
    }

    private static int numberOf(Command command) {
        return Integer.parseInt(((Command.Retire) command).session().value().substring(1));
    }

    private Batcher batcher(int lanes, int maxBatch, boolean callerRuns, Batcher.Trip trip) {
        return new Batcher(lanes, (command, count) -> numberOf(command) % count, maxBatch, callerRuns, executor, trip);
    }

    private static void answerAll(int lane, List<Batcher.Call> calls) {
        calls.forEach(call -> call.answer(DONE));
    }

    private static Reply result(CompletableFuture<Reply> future) {
        return future.orTimeout(20, TimeUnit.SECONDS).join();
    }

    private static StoreException failure(CompletableFuture<Reply> future) {
        try {
            throw new AssertionError("answered " + result(future));
        } catch (CompletionException e) {
            return (StoreException) e.getCause();
        }
    }

    private CompletableFuture<Reply> submit(Batcher batcher, int n, CallerMode caller) {
        return batcher.submit(command(n), caller).toCompletableFuture();
    }

    @Test
    void callerThatWaitsMakesTheTripItself() {
        Thread[] maker = new Thread[1];
        Batcher batcher = batcher(1, 8, true, (lane, calls) -> {
            maker[0] = Thread.currentThread();
            answerAll(lane, calls);
        });

        assertThat(submit(batcher, 1, CallerMode.BLOCKING)).isCompletedWithValue(DONE);
        assertThat(maker[0]).isSameAs(Thread.currentThread());

        assertThat(result(submit(batcher, 1, CallerMode.ASYNC))).isEqualTo(DONE);
        assertThat(maker[0]).isNotSameAs(Thread.currentThread());
    }

    @Test
    void callerMakesNoTripWhereTheStoreDoesNotSayso() {
        Thread[] maker = new Thread[1];
        Batcher batcher = batcher(1, 8, false, (lane, calls) -> {
            maker[0] = Thread.currentThread();
            answerAll(lane, calls);
        });

        assertThat(result(submit(batcher, 1, CallerMode.BLOCKING))).isEqualTo(DONE);
        assertThat(maker[0]).isNotSameAs(Thread.currentThread());
    }

    @Test
    void whatWouldKeepACallerIsLeftToTheLaneAndGoesBeforeWhatCameMeanwhile() {
        List<Runnable> tasks = new ArrayList<>();
        List<Command> made = new ArrayList<>();
        List<CompletableFuture<Reply>> later = new ArrayList<>();
        Batcher[] own = new Batcher[1];
        own[0] = new Batcher(1, (command, count) -> 0, 8, true, tasks::add, new Batcher.Trip() {
            @Override
            public void make(int lane, List<Batcher.Call> calls) {
                calls.forEach(call -> made.add(call.command()));
                answerAll(lane, calls);
            }

            @Override
            public boolean makeAtOnce(int lane, Batcher.Call call) {
                later.add(submit(own[0], 2, CallerMode.ASYNC));
                return false;
            }
        });

        CompletableFuture<Reply> first = submit(own[0], 1, CallerMode.BLOCKING);
        assertThat(first).isNotDone();
        assertThat(made).isEmpty();
        assertThat(tasks).hasSize(1);
        tasks.get(0).run();

        assertThat(made).containsExactly(command(1), command(2));
        assertThat(first).isCompletedWithValue(DONE);
        assertThat(later.get(0)).isCompletedWithValue(DONE);
    }

    @Test
    void whatIsLeftToALaneThatGetsNoThreadFails() {
        Batcher batcher = new Batcher(
                1,
                (command, count) -> 0,
                8,
                true,
                task -> {
                    throw new RejectedExecutionException("no thread");
                },
                new Batcher.Trip() {
                    @Override
                    public void make(int lane, List<Batcher.Call> calls) {
                        throw new AssertionError("there is no thread");
                    }

                    @Override
                    public boolean makeAtOnce(int lane, Batcher.Call call) {
                        return false;
                    }
                });

        for (int i = 0; i < 2; i++) {
            assertThat(failure(submit(batcher, i, CallerMode.BLOCKING)).effect())
                    .isEqualTo(StoreException.Effect.NONE);
        }
    }

    @Test
    void interruptIsParkedDuringTheTripAndRestored() {
        boolean[] seen = {true};
        Batcher batcher = batcher(1, 8, true, (lane, calls) -> {
            seen[0] = Thread.currentThread().isInterrupted();
            answerAll(lane, calls);
        });
        Thread.currentThread().interrupt();

        assertThat(submit(batcher, 1, CallerMode.BLOCKING)).isCompletedWithValue(DONE);

        assertThat(Thread.interrupted()).isTrue();
        assertThat(seen[0]).isFalse();
    }

    @Test
    void whatArrivesDuringATripLeavesTogetherInTheNextInItsOrder() throws Exception {
        CountDownLatch begun = new CountDownLatch(1);
        CountDownLatch go = new CountDownLatch(1);
        Batcher batcher = batcher(1, 4, true, (lane, calls) -> {
            synchronized (batches) {
                batches.add(calls.stream().map(Batcher.Call::command).toList());
            }
            begun.countDown();
            await(go);
            answerAll(lane, calls);
        });
        List<CompletableFuture<Reply>> futures = new ArrayList<>();
        futures.add(submit(batcher, 0, CallerMode.ASYNC));
        await(begun);
        for (int i = 1; i <= 9; i++) {
            futures.add(submit(batcher, i, i % 2 == 0 ? CallerMode.BLOCKING : CallerMode.ASYNC));
        }
        go.countDown();
        futures.forEach(BatcherTest::result);

        assertThat(batches.stream().map(List::size)).containsExactly(1, 4, 4, 1);
        assertThat(batches.stream().flatMap(List::stream).map(BatcherTest::numberOf))
                .containsExactly(0, 1, 2, 3, 4, 5, 6, 7, 8, 9);
    }

    @Test
    void lanesDoNotWaitForEachOther() {
        CountDownLatch go = new CountDownLatch(1);
        Batcher batcher = batcher(2, 4, false, (lane, calls) -> {
            if (lane == 0) {
                await(go);
            }
            answerAll(lane, calls);
        });
        CompletableFuture<Reply> slow = submit(batcher, 0, CallerMode.ASYNC);

        assertThat(result(submit(batcher, 1, CallerMode.ASYNC))).isEqualTo(DONE);

        assertThat(slow).isNotDone();
        go.countDown();
        assertThat(result(slow)).isEqualTo(DONE);
    }

    @Test
    void whatATripLeavesUnansweredIsUnknown() {
        Batcher batcher = batcher(1, 8, true, (lane, calls) -> {});
        StoreException silent = failure(submit(batcher, 1, CallerMode.BLOCKING));
        assertThat(silent.effect()).isEqualTo(Effect.UNKNOWN);
        assertThat(silent.reason()).isEqualTo(Reason.UNAVAILABLE);

        Error broken = new StackOverflowError();
        Batcher breaking = batcher(1, 8, true, (lane, calls) -> {
            throw broken;
        });
        StoreException unknown = failure(submit(breaking, 1, CallerMode.BLOCKING));
        assertThat(unknown.effect()).isEqualTo(Effect.UNKNOWN);
        assertThat(unknown).hasCause(broken);
    }

    @Test
    void whatATripHasAnsweredBeforeItThrewStays() throws Exception {
        StoreException refusal = new StoreException(Reason.DENIED, Effect.NONE, "no", null);
        CountDownLatch begun = new CountDownLatch(1);
        CountDownLatch go = new CountDownLatch(1);
        Batcher batcher = batcher(1, 8, false, (lane, calls) -> {
            begun.countDown();
            await(go);
            calls.get(0).answer(DONE);
            if (calls.size() > 1) {
                calls.get(1).fail(refusal);
                throw new StoreException(Reason.UNAVAILABLE, Effect.UNKNOWN, "cut", null);
            }
        });
        CompletableFuture<Reply> first = submit(batcher, 0, CallerMode.ASYNC);
        await(begun);
        CompletableFuture<Reply> answered = submit(batcher, 1, CallerMode.ASYNC);
        CompletableFuture<Reply> refused = submit(batcher, 2, CallerMode.ASYNC);
        CompletableFuture<Reply> unknown = submit(batcher, 3, CallerMode.ASYNC);
        go.countDown();

        assertThat(result(first)).isEqualTo(DONE);
        assertThat(result(answered)).isEqualTo(DONE);
        assertThat(failure(refused)).isSameAs(refusal);
        assertThat(failure(unknown)).hasMessage("cut");
    }

    @Test
    void closeRefusesWhatWaitsAndWhatComes() throws Exception {
        CountDownLatch begun = new CountDownLatch(1);
        CountDownLatch go = new CountDownLatch(1);
        Batcher batcher = batcher(1, 8, true, (lane, calls) -> {
            begun.countDown();
            await(go);
            answerAll(lane, calls);
        });
        CompletableFuture<Reply> underWay = submit(batcher, 0, CallerMode.ASYNC);
        await(begun);
        CompletableFuture<Reply> waiting = submit(batcher, 1, CallerMode.ASYNC);

        batcher.close();
        batcher.close();
        CompletableFuture<Reply> late = submit(batcher, 2, CallerMode.BLOCKING);
        go.countDown();

        assertThat(result(underWay)).isEqualTo(DONE);
        for (CompletableFuture<Reply> each : List.of(waiting, late)) {
            assertThat(failure(each).reason()).isEqualTo(Reason.CLOSED);
            assertThat(failure(each).effect()).isEqualTo(Effect.NONE);
        }
    }

    @Test
    void executorThatRefusesLeavesNoCallBehind() throws Exception {
        RejectedExecutionException refusal = new RejectedExecutionException("the executor of the test");
        Batcher batcher = new Batcher(
                1,
                (command, lanes) -> 0,
                8,
                false,
                task -> {
                    throw refusal;
                },
                BatcherTest::answerAll);
        int rounds = 5_000;
        AtomicInteger arrivals = new AtomicInteger();
        ConcurrentLinkedQueue<CompletableFuture<Reply>> all = new ConcurrentLinkedQueue<>();
        inThreads(2, () -> {
            for (int i = 0; i < rounds; i++) {
                meet(arrivals, 4 * i + 2);
                CompletableFuture<Reply> mine = submit(batcher, 0, CallerMode.ASYNC);
                all.add(mine);
                meet(arrivals, 4 * i + 4);
                // Nobody is at it any more: what has not ended by now would not end before somebody comes along.
                if (!mine.isDone()) {
                    throw new AssertionError("a call was left behind in round " + i);
                }
            }
        });
        for (CompletableFuture<Reply> each : all) {
            assertThat(failure(each).effect()).isEqualTo(Effect.NONE);
        }
        assertThat(all).hasSize(2 * rounds);
    }

    @Test
    void executorThatRefusesOnceStopsNoLane() {
        List<Throwable> refusals = List.of(
                new RejectedExecutionException("the executor of the test"),
                new OutOfMemoryError("unable to create native thread"),
                new IllegalStateException("whatever"));
        for (Throwable refusal : refusals) {
            AtomicBoolean isOnce = new AtomicBoolean();
            Batcher batcher = new Batcher(
                    1,
                    (command, lanes) -> 0,
                    8,
                    false,
                    task -> {
                        if (isOnce.compareAndSet(false, true)) {
                            throwAnything(refusal);
                        }
                        executor.execute(task);
                    },
                    BatcherTest::answerAll);

            StoreException first = failure(submit(batcher, 0, CallerMode.ASYNC));

            assertThat(first.reason()).isEqualTo(Reason.UNAVAILABLE);
            assertThat(first.effect()).isEqualTo(Effect.NONE);
            assertThat(first).hasCause(refusal);
            assertThat(result(submit(batcher, 1, CallerMode.ASYNC))).isEqualTo(DONE);
        }
    }

    @Test
    void taskThatTheExecutorKeptThoughItRefusedItMakesNoTrip() {
        List<Runnable> kept = new ArrayList<>();
        Batcher batcher = new Batcher(
                1,
                (command, lanes) -> 0,
                8,
                false,
                task -> {
                    kept.add(task);
                    throw new OutOfMemoryError("unable to create native thread");
                },
                (lane, calls) -> {
                    throw new AssertionError("a trip was made");
                });
        assertThat(failure(submit(batcher, 0, CallerMode.ASYNC)).effect()).isEqualTo(Effect.NONE);
        kept.forEach(Runnable::run);
        assertThat(failure(submit(batcher, 1, CallerMode.ASYNC)).effect()).isEqualTo(Effect.NONE);
    }

    @SuppressWarnings("unchecked")
    private static <E extends Throwable> void throwAnything(Throwable what) throws E {
        throw (E) what;
    }

    @Test
    void noCallIsLostAndNoLaneRunsTwiceAtOnceUnderStress() throws Exception {
        int lanes = 3;
        AtomicBoolean[] busy = {new AtomicBoolean(), new AtomicBoolean(), new AtomicBoolean()};
        AtomicInteger overlaps = new AtomicInteger();
        AtomicInteger carried = new AtomicInteger();
        int[] plain = new int[lanes];
        Batcher batcher = batcher(lanes, 16, true, (lane, calls) -> {
            if (!busy[lane].compareAndSet(false, true)) {
                overlaps.incrementAndGet();
            }
            plain[lane] += calls.size();
            carried.addAndGet(calls.size());
            busy[lane].set(false);
            answerAll(lane, calls);
        });
        ConcurrentLinkedQueue<CompletableFuture<Reply>> all = new ConcurrentLinkedQueue<>();
        int perThread = 10_000;
        inThreads(6, () -> {
            for (int i = 0; i < perThread; i++) {
                all.add(submit(batcher, i % 7, i % 3 == 0 ? CallerMode.BLOCKING : CallerMode.ASYNC));
            }
        });

        all.forEach(each -> assertThat(result(each)).isEqualTo(DONE));
        assertThat(overlaps).hasValue(0);
        assertThat(carried).hasValue(6 * perThread);
        // What a lane keeps needs no lock of its own: each trip happens before the next.
        assertThat(plain[0] + plain[1] + plain[2]).isEqualTo(6 * perThread);
    }

    @Test
    void closeRacesWithSubmitAndEveryCallEnds() throws Exception {
        for (int round = 0; round < 200; round++) {
            Batcher batcher = batcher(1, 4, round % 2 == 0, BatcherTest::answerAll);
            ConcurrentLinkedQueue<CompletableFuture<Reply>> all = new ConcurrentLinkedQueue<>();
            AtomicInteger turns = new AtomicInteger();
            inThreads(3, () -> {
                if (turns.getAndIncrement() == 0) {
                    Thread.yield();
                    batcher.close();
                    return;
                }
                for (int i = 0; i < 50; i++) {
                    all.add(submit(batcher, 0, i % 2 == 0 ? CallerMode.BLOCKING : CallerMode.ASYNC));
                }
            });
            for (CompletableFuture<Reply> each : all) {
                Object end = each.handle((reply, failure) -> failure == null ? reply : failure)
                        .get(20, TimeUnit.SECONDS);
                assertThat(end.equals(DONE)
                                || end instanceof StoreException closed
                                        && closed.reason() == Reason.CLOSED
                                        && closed.effect() == Effect.NONE)
                        .as("%s", end)
                        .isTrue();
            }
        }
    }

    @Test
    void senselessSizesAreRefused() {
        assertThatThrownBy(() -> batcher(0, 1, true, BatcherTest::answerAll))
                .isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> batcher(1, 0, true, BatcherTest::answerAll))
                .isInstanceOf(IllegalArgumentException.class);
    }

    private void inThreads(int count, Runnable task) throws Exception {
        CyclicBarrier start = new CyclicBarrier(count);
        List<CompletableFuture<Void>> ends = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            ends.add(CompletableFuture.runAsync(
                    () -> {
                        meet(start);
                        task.run();
                    },
                    executor));
        }
        for (CompletableFuture<Void> end : ends) {
            end.get(60, TimeUnit.SECONDS);
        }
    }

    /** Meets so closely that what follows happens at the same time. */
    private static void meet(AtomicInteger arrivals, int all) {
        arrivals.incrementAndGet();
        for (int looks = 0; arrivals.get() < all; looks++) {
            if (looks > 1_000) {
                Thread.yield();
            }
        }
    }

    private static void meet(CyclicBarrier barrier) {
        try {
            barrier.await(20, TimeUnit.SECONDS);
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }

    private static void await(CountDownLatch latch) {
        try {
            if (!latch.await(20, TimeUnit.SECONDS)) {
                throw new AssertionError("it took too long");
            }
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }
}
