package dev.holdfast.benchmarks;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.function.IntFunction;
import java.util.stream.IntStream;
import org.HdrHistogram.AtomicHistogram;
import org.HdrHistogram.Histogram;

/*
 * Taking the time twice for each pair would cost a good part of a pair. So each thread times one acquisition in
 * MEAN_GAP on average, with random gaps between, which don't fall into step with anything; the percentiles over all
 * acquisitions are estimated without bias by those of the sample. A timed wait counts also if it ends after the window.
 */

/**
 * Threads that acquire and release without a break. All run from the start of the warm-up to the end; the pairs of a
 * thread in the window are the difference of two looks at its counter.
 */
final class Crew {

    static final int MEAN_GAP = 32;
    private static final long LONGEST_WAIT = TimeUnit.MINUTES.toNanos(10);

    /** What a lock protects: entered and left by its owner. */
    interface Inside {
        void enter(long token);

        void leave();
    }

    /** One thread's lock, and what it protects. */
    record Post(Contestant.Mutex mutex, Inside guarded) {}

    /**
     * What a crew has done.
     *
     * @param pairs how many pairs each thread completed in the window
     * @param nanos how long the window was
     * @param waits a sample of the waits, in nanoseconds
     * @param passes how many pairs there were in all, warm-up and end included
     */
    record Tally(List<Long> pairs, long nanos, Histogram waits, long passes) {

        /** Puts the usual numbers on a sheet. */
        void show(Sheet sheet) {
            sheet.put("pairs/s", rate());
            sheet.put("slowest", Collections.min(pairs));
            sheet.put("fastest", Collections.max(pairs));
            sheet.put("p50", waits.getValueAtPercentile(50));
            sheet.put("p99", waits.getValueAtPercentile(99));
            sheet.put("p99.9", waits.getValueAtPercentile(99.9));
            sheet.put("max", waits.getMaxValue());
        }

        double rate() {
            return pairs.stream().mapToLong(Long::longValue).sum() * 1e9 / nanos;
        }
    }

    private final Bench bench;
    private final List<Worker> workers = new ArrayList<>();
    private final Histogram waits = new AtomicHistogram(LONGEST_WAIT, 2);
    private volatile boolean isMeasuring;
    private volatile boolean isOver;

    private Crew(Bench bench) {
        this.bench = bench;
    }

    /** Runs a crew; returns when all its threads have ended. */
    static Tally run(Bench bench, int threads, IntFunction<Post> posts) throws Exception {
        Crew crew = new Crew(bench);
        for (int i = 0; i < threads; i++) {
            crew.workers.add(crew.new Worker(posts.apply(i)));
        }
        return crew.work();
    }

    private Tally work() throws Exception {
        ExecutorService threads = Executors.newFixedThreadPool(workers.size());
        try {
            List<Future<Long>> ends = new ArrayList<>();
            for (Worker worker : workers) {
                ends.add(threads.submit(worker));
            }
            bench.awaitBegin();
            isMeasuring = true;
            long[] before = counts();
            long begin = System.nanoTime();
            bench.awaitEnd();
            long[] after = counts();
            long nanos = System.nanoTime() - begin;
            isOver = true;
            long passes = 0;
            for (Future<Long> end : ends) {
                passes += resultOf(end);
            }
            return new Tally(difference(before, after), nanos, waits, passes);
        } finally {
            isOver = true;
            threads.shutdownNow();
        }
    }

    private static long resultOf(Future<Long> end) throws Exception {
        try {
            return end.get(1, TimeUnit.MINUTES);
        } catch (ExecutionException e) {
            throw new IllegalStateException("a thread failed", e.getCause());
        }
    }

    private long[] counts() {
        return workers.stream().mapToLong(Worker::count).toArray();
    }

    private static List<Long> difference(long[] before, long[] after) {
        return IntStream.range(0, before.length)
                .mapToObj(i -> after[i] - before[i])
                .toList();
    }

    private final class Worker implements Callable<Long> {

        private static final VarHandle COUNT;

        static {
            try {
                COUNT = MethodHandles.lookup().findVarHandle(Worker.class, "count", long.class);
            } catch (ReflectiveOperationException e) {
                throw new ExceptionInInitializerError(e);
            }
        }

        private final Post post;

        /** Written by this thread alone, in opaque mode; read by the one that takes the time. */
        @SuppressWarnings("unused")
        private long count;

        Worker(Post post) {
            this.post = post;
        }

        long count() {
            return (long) COUNT.getOpaque(this);
        }

        @Override
        public Long call() throws InterruptedException {
            Contestant.Mutex mutex = post.mutex();
            Inside guarded = post.guarded();
            long pairs = 0;
            int untilTimed = gap();
            while (!isOver) {
                boolean isTimed = --untilTimed <= 0;
                long asked = isTimed ? System.nanoTime() : 0;
                long token = mutex.acquire();
                if (isTimed) {
                    untilTimed = gap();
                    note(System.nanoTime() - asked);
                }
                guarded.enter(token);
                guarded.leave();
                mutex.release();
                pairs++;
                COUNT.setOpaque(this, pairs);
            }
            return pairs;
        }

        private void note(long wait) {
            if (isMeasuring) {
                waits.recordValue(Math.min(wait, LONGEST_WAIT));
            }
        }

        private int gap() {
            return ThreadLocalRandom.current().nextInt(1, 2 * MEAN_GAP);
        }
    }
}
