package dev.holdfast.benchmarks.harness;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.IntFunction;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.HdrHistogram.AtomicHistogram;
import org.HdrHistogram.Histogram;
import org.jspecify.annotations.Nullable;

/*
 * Taking the time twice for each pair would cost a good part of a pair that is made in memory. So where there are many
 * pairs, each thread times one acquisition in MEAN_GAP on average, with random gaps between, which don't fall into step
 * with anything; the percentiles over all acquisitions are estimated without bias by those of the sample. Where a pair
 * goes through a server each is timed. Which of the two, the whole crew is told when the window begins, by its speed
 * before. A timed wait counts also if it ends after the window.
 */

/**
 * Threads that acquire and release without a break. All run from the start of the warm-up to the end; the pairs of a
 * thread in the window are the difference of two looks at its counter.
 */
public final class Crew {

    public static final int MEAN_GAP = 32;

    /** Pairs a second above which not all waits are timed. */
    public static final int TIMED_RATE = 100_000;

    private static final long LONGEST_WAIT = TimeUnit.MINUTES.toNanos(10);

    /** How long threads may take to end once all is over; then they are interrupted, and may take as long again. */
    public static final Duration PATIENCE = Duration.ofSeconds(10);

    /** As {@link #PATIENCE}, for threads of which a trial only has to see whether they end. */
    private static final Duration PATIENCE_IN_TRIALS = Duration.ofSeconds(1);

    private static final VarHandle PAIRS = counter("pairs");
    private static final VarHandle PASSES = counter("passes");

    /** What a lock protects: entered and left by its owner. */
    public interface Inside {
        void enter(long token);

        void leave();
    }

    /** Who is told when the window begins and ends. The threads go on until it has returned. */
    public interface Watch {
        Watch NONE = new Watch() {
            @Override
            public void begin() {}

            @Override
            public void end() {}
        };

        void begin();

        void end();
    }

    /** One thread's lock, and what it protects. */
    public record Post(Contestant.Mutex mutex, Inside guarded) {}

    /**
     * What a crew has done.
     *
     * @param pairs how many pairs each thread completed in the window
     * @param nanos how long the window was
     * @param cpuNanos the processor time of this process in the window
     * @param waits a sample of the waits, in nanoseconds
     * @param passes how many pairs there were in all, warm-up and end included
     * @param failures of the threads that did not come to an end
     */
    public record Tally(
            List<Long> pairs, long nanos, long cpuNanos, Histogram waits, long passes, List<Throwable> failures) {

        /** Puts the usual numbers on a sheet. */
        public void show(Sheet sheet) {
            sheet.put("pairs/s", rate());
            sheet.put("slowest", Collections.min(pairs));
            sheet.put("fastest", Collections.max(pairs));
            sheet.put("p50", waits.getValueAtPercentile(50));
            sheet.put("p99", waits.getValueAtPercentile(99));
            sheet.put("p99.9", waits.getValueAtPercentile(99.9));
            sheet.put("max", waits.getMaxValue());
            if (all() > 0) {
                sheet.put("client cpu", (double) cpuNanos / all());
            }
        }

        public double rate() {
            return all() * 1e9 / nanos;
        }

        public long all() {
            return pairs.stream().mapToLong(Long::longValue).sum();
        }

        /**
         * What became of those that did not come to an end.
         *
         * @throws IllegalStateException if there are any
         */
        public Tally requireAllEnded() {
            if (!failures.isEmpty()) {
                throw new IllegalStateException(failures.size() + " threads failed", failures.get(0));
            }
            return this;
        }

        /** Says on a sheet if some failed. */
        public void remarkFailures(Sheet sheet) {
            if (!failures.isEmpty()) {
                sheet.remark(failures.size() + " of " + pairs.size() + " threads did not come to an end: "
                        + failures.get(0));
            }
        }
    }

    private final Bench bench;
    private final Watch watch;
    private final Duration patience;
    private final List<Worker> workers = new ArrayList<>();
    private final Histogram waits = new AtomicHistogram(LONGEST_WAIT, 2);
    private volatile int meanGap = 1;
    private volatile boolean isMeasuring;
    private volatile boolean isOver;

    private Crew(Bench bench, Watch watch, Duration patience) {
        this.bench = bench;
        this.watch = watch;
        this.patience = patience;
    }

    /** How long threads may take to end that need not end well. */
    public static Duration patienceWithPeers(Bench bench) {
        return bench.isTrial() ? PATIENCE_IN_TRIALS : PATIENCE;
    }

    /** Runs a crew; returns when all its threads have ended. */
    public static Tally run(Bench bench, int threads, IntFunction<Post> posts) throws Exception {
        return run(bench, threads, Watch.NONE, PATIENCE, posts).requireAllEnded();
    }

    /** Runs a crew; returns when all its threads have ended, or do not come to an end for so long. */
    public static Tally run(Bench bench, int threads, Watch watch, Duration patience, IntFunction<Post> posts)
            throws Exception {
        Crew crew = new Crew(bench, watch, patience);
        for (int i = 0; i < threads; i++) {
            crew.workers.add(crew.new Worker(posts.apply(i)));
        }
        return crew.work();
    }

    private Tally work() throws Exception {
        ExecutorService threads = Executors.newFixedThreadPool(workers.size());
        try {
            long start = System.nanoTime();
            List<Future<Void>> ends = new ArrayList<>();
            for (Worker worker : workers) {
                ends.add(threads.submit(worker));
            }
            bench.awaitBegin();
            long already = LongStream.of(counts(PAIRS)).sum();
            meanGap = already > TIMED_RATE * ((System.nanoTime() - start) / 1e9) ? MEAN_GAP : 1;
            watch.begin();
            isMeasuring = true;
            long[] before = counts(PAIRS);
            long cpu = Processors.ofThisProcess();
            long begin = System.nanoTime();
            // Of its full length, also if the watch was slow.
            bench.from(begin).awaitEnd();
            long[] after = counts(PAIRS);
            // The window of a trial is so short that on a slow machine there may be no pair in it yet.
            while (bench.isTrial() && Arrays.equals(before, after) && System.nanoTime() - begin < patience.toNanos()) {
                bench.from(System.nanoTime()).awaitEnd();
                after = counts(PAIRS);
            }
            cpu = Processors.ofThisProcess() - cpu;
            long nanos = System.nanoTime() - begin;
            isMeasuring = false;
            watch.end();
            isOver = true;
            List<Throwable> failures = failures(ends, threads);
            return new Tally(
                    difference(before, after),
                    nanos,
                    cpu,
                    waits,
                    LongStream.of(counts(PASSES)).sum(),
                    failures);
        } finally {
            isOver = true;
            threads.shutdownNow();
        }
    }

    private List<Throwable> failures(List<Future<Void>> ends, ExecutorService threads) throws InterruptedException {
        List<Throwable> failures = new ArrayList<>();
        long deadline = System.nanoTime() + patience.toNanos();
        boolean isInterrupted = false;
        for (Future<Void> end : ends) {
            Throwable failure = failure(end, deadline);
            if (failure instanceof TimeoutException && !isInterrupted) {
                isInterrupted = true;
                threads.shutdownNow();
                deadline = System.nanoTime() + patience.toNanos();
            }
            if (failure != null) {
                failures.add(failure);
            }
        }
        return failures;
    }

    private static @Nullable Throwable failure(Future<Void> end, long deadline) throws InterruptedException {
        try {
            var unused = end.get(Math.max(0, deadline - System.nanoTime()), TimeUnit.NANOSECONDS);
            return null;
        } catch (ExecutionException e) {
            return e.getCause();
        } catch (TimeoutException e) {
            return e;
        }
    }

    private long[] counts(VarHandle count) {
        return workers.stream()
                .mapToLong(worker -> (long) count.getOpaque(worker))
                .toArray();
    }

    private static List<Long> difference(long[] before, long[] after) {
        return IntStream.range(0, before.length)
                .mapToObj(i -> after[i] - before[i])
                .toList();
    }

    private static VarHandle counter(String name) {
        try {
            return MethodHandles.lookup().findVarHandle(Worker.class, name, long.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private final class Worker implements Callable<Void> {

        private final Post post;

        /** Written by this thread alone, in opaque mode; read by the one that takes the time. */
        @SuppressWarnings("unused")
        private long pairs;

        /** As the other, but counted before the release: a thread that is stuck there has passed. */
        @SuppressWarnings("unused")
        private long passes;

        Worker(Post post) {
            this.post = post;
        }

        @Override
        public Void call() throws InterruptedException {
            Contestant.Mutex mutex = post.mutex();
            Inside guarded = post.guarded();
            long done = 0;
            int untilTimed = gap();
            while (!isOver) {
                boolean isTimed = --untilTimed <= 0;
                boolean counts = isTimed && isMeasuring;
                long asked = isTimed ? System.nanoTime() : 0;
                long token = mutex.acquire();
                if (isTimed) {
                    untilTimed = gap();
                    if (counts) {
                        waits.recordValue(Math.min(System.nanoTime() - asked, LONGEST_WAIT));
                    }
                }
                guarded.enter(token);
                guarded.leave();
                done++;
                PASSES.setOpaque(this, done);
                mutex.release();
                PAIRS.setOpaque(this, done);
            }
            return null;
        }

        private int gap() {
            return meanGap == 1 ? 1 : ThreadLocalRandom.current().nextInt(1, 2 * MEAN_GAP);
        }
    }
}
