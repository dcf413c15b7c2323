package dev.holdfast.benchmarks.harness;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
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
 * Reading the clock twice costs a good part of a pair that is made in memory. Above TIMED_RATE each thread therefore
 * times one acquisition in MEAN_GAP on average. The gaps are random, so that they never fall into step with the lock;
 * the sample estimates the percentiles of all acquisitions without bias. Slower pairs are all timed. The speed of the
 * warm-up decides. A timed wait counts even if it ends after the window.
 */

/**
 * Threads that acquire and release without a break, from the start of the warm-up to the end of the window. The pairs
 * of a thread are the difference of its counter between both ends of the window.
 *
 * <p>The warm-up is counted in pairs, not in seconds: a server that answers slowly runs the same code as often before
 * it is measured as a fast one. The first {@value #FIRST_PAIRS} pairs are reported separately.
 */
public final class Workers {

    public static final int MEAN_GAP = 32;

    /** Pairs per second above which not all waits are timed. */
    public static final int TIMED_RATE = 100_000;

    /** What a fresh program pays for is in these; the compiler has seen what is hot after them. */
    public static final int FIRST_PAIRS = 20_000;

    /** Pairs before the window: twice the first, because compiled code arrives later than it is requested. */
    public static final int WARM_UP_PAIRS = 2 * FIRST_PAIRS;

    /** The shortest warm-up: pairs in memory are made faster than their code is compiled. */
    private static final Duration SHORTEST_WARM_UP = Duration.ofSeconds(2);

    /** The longest warm-up: hundreds of threads at one lock of a peer would need many minutes for their pairs. */
    public static final Duration LONGEST_WARM_UP = Duration.ofMinutes(1);

    /** How long threads may take to end; then they are interrupted, and may take as long again. */
    public static final Duration TIMEOUT = Duration.ofSeconds(10);

    private static final Duration TIMEOUT_IN_TRIALS = Duration.ofSeconds(1);
    private static final long LONGEST_WAIT = TimeUnit.MINUTES.toNanos(10);
    private static final VarHandle PAIRS = counter("pairs");
    private static final VarHandle PASSES = counter("passes");

    /** What a lock protects: entered and left by its owner. */
    public interface Inside {
        void enter(long token);

        void leave();
    }

    /** Notified when the window begins and ends, while the threads go on working. */
    public interface WindowListener {
        default void begin() {}

        default void end() {}
    }

    /** One thread's lock, and what it protects. */
    public record Post(Contestant.Mutex mutex, Inside guarded) {}

    /** What the first pairs took: elapsed time and processor time of this process. */
    public record First(long nanos, long cpuNanos) {}

    /**
     * The work of all threads.
     *
     * @param first what the first pairs took, if they were all made
     * @param pairs how many pairs each thread completed in the window
     * @param nanos how long the window was
     * @param cpuNanos the processor time of this process in the window
     * @param waits a sample of the waits, in nanoseconds
     * @param passes all pairs, including warm-up and end
     * @param failures of threads that did not end
     */
    public record Tally(
            Optional<First> first,
            List<Long> pairs,
            long nanos,
            long cpuNanos,
            Histogram waits,
            long passes,
            List<Throwable> failures) {

        /** Reports the usual numbers, and how many threads did not end. */
        public void show(Measurements measurements) {
            if (!failures.isEmpty()) {
                measurements.remark(failures.size() + " of " + pairs.size() + " threads did not come to an end: "
                        + failures.get(0));
            }
            measurements.put("pairs/s", rate());
            measurements.put("slowest", Collections.min(pairs));
            measurements.put("fastest", Collections.max(pairs));
            measurements.putWaits("", waits);
            first.ifPresent(taken -> {
                measurements.put("first", taken.nanos());
                measurements.put("first cpu", taken.cpuNanos());
            });
            if (all() > 0) {
                measurements.put("client cpu", (double) cpuNanos / all());
            }
        }

        public double rate() {
            return all() * 1e9 / nanos;
        }

        public long all() {
            return pairs.stream().mapToLong(Long::longValue).sum();
        }

        private Tally requireAllEnded() {
            if (!failures.isEmpty()) {
                throw new IllegalStateException(failures.size() + " threads failed", failures.get(0));
            }
            return this;
        }
    }

    private final Bench bench;
    private final List<Worker> workers;
    private final Histogram waits = new AtomicHistogram(LONGEST_WAIT, 2);
    private final boolean mustEnd;
    private WindowListener listener = new WindowListener() {};
    private Duration timeout;
    private volatile int meanGap = 1;
    private volatile boolean isMeasuring;
    private volatile boolean isOver;

    private Workers(Bench bench, boolean mustEnd, int threads, IntFunction<Post> posts) {
        this.bench = bench;
        this.mustEnd = mustEnd;
        this.timeout = !mustEnd && bench.isTrial() ? TIMEOUT_IN_TRIALS : TIMEOUT;
        this.workers = IntStream.range(0, threads)
                .mapToObj(i -> new Worker(posts.apply(i)))
                .toList();
    }

    /** Threads that must all end; otherwise a run throws an {@link IllegalStateException}. */
    public static Workers of(Bench bench, int threads, IntFunction<Post> posts) {
        return new Workers(bench, true, threads, posts);
    }

    /** Threads of a contestant; those of a peer may get stuck, which becomes a remark. */
    public static Workers of(Contestant contestant, Bench bench, int threads, IntFunction<Post> posts) {
        return new Workers(bench, !contestant.isPeer(), threads, posts);
    }

    public Workers listener(WindowListener windowListener) {
        listener = windowListener;
        return this;
    }

    public Workers timeout(Duration limit) {
        timeout = limit;
        return this;
    }

    /** Runs the threads until they end; the window opens after {@link #WARM_UP_PAIRS} pairs. */
    public Tally run() throws Exception {
        return run(this::warmUp);
    }

    /** Runs the threads until they end; the window opens at {@link Bench#begin()}, as in the other processes. */
    public Tally runFromBegin() throws Exception {
        return run((start, cpu) -> {
            bench.awaitBegin();
            return Optional.empty();
        });
    }

    /** Runs the threads only to have their code compiled. */
    public void warmUpOnly() throws Exception {
        var unused = run((start, cpu) -> {
            Optional<First> first = warmUp(start, cpu);
            isOver = true;
            return first;
        });
    }

    private interface WarmUp {
        Optional<First> run(long start, long cpu) throws InterruptedException;
    }

    private Tally run(WarmUp warmUp) throws Exception {
        ExecutorService threads = Executors.newFixedThreadPool(workers.size());
        try {
            long cpu = Processors.ofThisProcess();
            long start = System.nanoTime();
            List<Future<Void>> ends = new ArrayList<>();
            for (Worker worker : workers) {
                ends.add(threads.submit(worker));
            }
            Optional<First> first = warmUp.run(start, cpu);
            meanGap = sum(PAIRS) > TIMED_RATE * ((System.nanoTime() - start) / 1e9) ? MEAN_GAP : 1;
            listener.begin();
            isMeasuring = true;
            long[] before = counts(PAIRS);
            cpu = Processors.ofThisProcess();
            long begin = System.nanoTime();
            long[] after = isOver ? before : countAtEnd(before, begin);
            cpu = Processors.ofThisProcess() - cpu;
            long nanos = System.nanoTime() - begin;
            isMeasuring = false;
            listener.end();
            isOver = true;
            List<Throwable> failures = failures(ends, threads);
            List<Long> pairs = IntStream.range(0, before.length)
                    .mapToObj(i -> after[i] - before[i])
                    .toList();
            Tally tally = new Tally(first, pairs, nanos, cpu, waits, sum(PASSES), failures);
            return mustEnd ? tally.requireAllEnded() : tally;
        } finally {
            isOver = true;
            threads.shutdownNow();
        }
    }

    private Optional<First> warmUp(long start, long cpu) throws InterruptedException {
        long latest = start + bench.scaled(LONGEST_WARM_UP).toNanos();
        awaitPairs(bench.scaled(FIRST_PAIRS), latest);
        Optional<First> first = sum(PAIRS) < bench.scaled(FIRST_PAIRS)
                ? Optional.empty()
                : Optional.of(new First(System.nanoTime() - start, Processors.ofThisProcess() - cpu));
        awaitPairs(bench.scaled(WARM_UP_PAIRS), latest);
        TimeUnit.NANOSECONDS.sleep(start + bench.scaled(SHORTEST_WARM_UP).toNanos() - System.nanoTime());
        return first;
    }

    private void awaitPairs(long count, long latest) throws InterruptedException {
        while (sum(PAIRS) < count && System.nanoTime() - latest < 0) {
            TimeUnit.MILLISECONDS.sleep(1);
        }
    }

    private long[] countAtEnd(long[] before, long begin) throws InterruptedException {
        // The full window, however long the listener took.
        bench.from(begin).awaitEnd();
        long[] after = counts(PAIRS);
        // The window of a trial is so short that a slow machine may not have made a pair in it yet.
        while (bench.isTrial() && Arrays.equals(before, after) && System.nanoTime() - begin < timeout.toNanos()) {
            bench.from(System.nanoTime()).awaitEnd();
            after = counts(PAIRS);
        }
        return after;
    }

    private List<Throwable> failures(List<Future<Void>> ends, ExecutorService threads) throws InterruptedException {
        List<Throwable> failures = new ArrayList<>();
        long deadline = System.nanoTime() + timeout.toNanos();
        boolean isInterrupted = false;
        for (Future<Void> end : ends) {
            Throwable failure = failure(end, deadline);
            if (failure instanceof TimeoutException && !isInterrupted) {
                isInterrupted = true;
                threads.shutdownNow();
                deadline = System.nanoTime() + timeout.toNanos();
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

    private long sum(VarHandle count) {
        return LongStream.of(counts(count)).sum();
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

        /** Written by this thread alone, in opaque mode; read by the thread that measures. */
        @SuppressWarnings("unused")
        private long pairs;

        /** As {@link #pairs}, but counted before the release: a thread that is stuck there has passed. */
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
