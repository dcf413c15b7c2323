package dev.holdfast.benchmarks.workload;

import dev.holdfast.benchmarks.harness.Bench;
import dev.holdfast.benchmarks.harness.Contestant;
import dev.holdfast.benchmarks.harness.Guarded;
import dev.holdfast.benchmarks.harness.Measurements;
import dev.holdfast.benchmarks.harness.Workers;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Function;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.HdrHistogram.AtomicHistogram;
import org.HdrHistogram.Histogram;
import org.jspecify.annotations.Nullable;

/*
 * Threads that acquire without a break ask for less while the lock is slow, and so time few of the slow acquisitions
 * (coordinated omission). Here requests arrive at random times that do not depend on replies. A free thread serves the
 * next one; if all are busy, the request waits, and that wait counts: latencies start when the request was due.
 */

/** Locks without contention whose requests arrive by schedule, at a part of the rate that all threads reach at most. */
public final class OpenLoop {

    private static final List<Integer> LOADS = List.of(10, 50, 90);
    private static final List<String> PERCENTILES = List.of("p50", "p99", "p99.9");
    private static final Duration LEAD_IN = Duration.ofMillis(500);
    private static final Duration TIMEOUT = Duration.ofMinutes(2);
    private static final double SATURATED = Double.POSITIVE_INFINITY;

    private final Bench bench;
    private final double rate;
    private final boolean isAlone;
    private final long start = System.nanoTime();
    private final SplittableRandom random = new SplittableRandom(1);
    private final Histogram latencies = new AtomicHistogram(TimeUnit.MINUTES.toNanos(10), 2);
    private final Histogram starts = new AtomicHistogram(TimeUnit.MINUTES.toNanos(10), 2);
    private final LongAdder passes = new LongAdder();
    private double elapsed;

    private OpenLoop(Bench bench, double rate, boolean isAlone) {
        this.bench = bench.after(LEAD_IN);
        this.rate = rate;
        this.isAlone = isAlone;
    }

    /**
     * Adds a cell for each contestant, and a picture.
     *
     * @param threads how many serve the requests; one alone spins until the next is due, several sleep
     */
    public static void fill(
            Workload workload, List<? extends Contestant> contestants, Function<Contestant, Integer> threads) {
        workload.column("limit", Unit.PER_SECOND, "limit");
        for (int load : LOADS) {
            for (String percentile : PERCENTILES) {
                workload.column(load + " %: " + percentile, Unit.NANOS, load + " % " + percentile);
            }
            workload.column("start", Unit.NANOS, load + " % start");
        }
        Plot plot = new Plot(
                workload.id(), workload.title(), "load, % of the limit of each", false, "time to acquire", Unit.NANOS);
        for (Contestant contestant : contestants) {
            String cell = contestant.title();
            workload.cells()
                    .add(Cell.of(
                            contestant,
                            cell,
                            (bench, measurements) -> measure(
                                    contestant, bench.scaledOverOne(threads.apply(contestant)), bench, measurements)));
            for (String percentile : contestant.isPeer() ? List.of("p99") : PERCENTILES) {
                plot.lines()
                        .add(Plot.Line.of(
                                cell + ", " + percentile,
                                LOADS,
                                load -> new Figure.Term(cell, load + " % " + percentile)));
            }
        }
        workload.plots().add(plot);
    }

    /**
     * How the cells are measured, for the page.
     *
     * @param threads who serves the requests
     */
    public static String method(String threads) {
        return String.format(
                "Requests for locks that no one else wants arrive at random times (a Poisson process), at 10, 50 and"
                        + " 90 %% of *limit*, which is what the threads make without a pause. %s A latency is the time"
                        + " from when a request was due until the lock was acquired, so delays of earlier requests"
                        + " count (coordinated omission is corrected). *Start* is the median time until a thread began"
                        + " to acquire: that part belongs to the timer, or to waiting for a free thread.",
                threads);
    }

    private static void measure(Contestant contestant, int threads, Bench bench, Measurements measurements)
            throws Exception {
        List<Guarded> guarded =
                Stream.generate(Guarded::inMemory).limit(threads).toList();
        try (Contestant.Client client = contestant.connect(bench.place())) {
            List<Contestant.Mutex> mutexes = IntStream.range(0, threads)
                    .mapToObj(i -> client.mutex("name-" + i))
                    .toList();
            Workers.of(contestant, bench, threads, i -> new Workers.Post(mutexes.get(i), Guarded.inMemory()))
                    .warmUpOnly();
            OpenLoop saturated = new OpenLoop(bench, SATURATED, threads == 1);
            saturated.run(mutexes, guarded);
            double limit =
                    saturated.latencies.getTotalCount() * 1e9 / bench.time().toNanos();
            long passes = saturated.passes.sum();
            measurements.put("limit", limit);
            for (int load : LOADS) {
                OpenLoop loop = new OpenLoop(bench, limit * load / 100, threads == 1);
                loop.run(mutexes, guarded);
                passes += loop.passes.sum();
                measurements.putWaits(load + " % ", loop.latencies);
                measurements.put(load + " % start", loop.starts.getValueAtPercentile(50));
            }
            Guarded.check(guarded, passes, measurements);
        }
    }

    private void run(List<Contestant.Mutex> mutexes, List<Guarded> guarded) throws Exception {
        ExecutorService threads = Executors.newFixedThreadPool(mutexes.size());
        try {
            List<Callable<Void>> tasks = new ArrayList<>();
            for (int i = 0; i < mutexes.size(); i++) {
                Contestant.Mutex mutex = mutexes.get(i);
                Guarded inside = guarded.get(i);
                tasks.add(() -> serve(mutex, inside));
            }
            long timeout = bench.time().plus(TIMEOUT).toNanos();
            for (Future<Void> end : threads.invokeAll(tasks, timeout, TimeUnit.NANOSECONDS)) {
                end.get();
            }
        } finally {
            threads.shutdownNow();
        }
    }

    /** Serves one request after another. */
    private @Nullable Void serve(Contestant.Mutex mutex, Guarded guarded) throws InterruptedException {
        while (true) {
            long due = nextArrival();
            if (due - bench.end() >= 0) {
                return null;
            }
            await(due);
            long started = System.nanoTime();
            long token = mutex.acquire();
            long acquired = System.nanoTime();
            guarded.enter(token);
            guarded.leave();
            passes.increment();
            mutex.release();
            if (due - bench.begin() >= 0) {
                latencies.recordValue(acquired - due);
                starts.recordValue(started - due);
            }
        }
    }

    /** When the next request is due: now, if there is always one. */
    private synchronized long nextArrival() {
        if (rate == SATURATED) {
            return System.nanoTime();
        }
        elapsed -= Math.log(1 - random.nextDouble()) * 1e9 / rate;
        return start + (long) elapsed;
    }

    private void await(long due) {
        for (long left = due - System.nanoTime(); left > 0; left = due - System.nanoTime()) {
            if (isAlone) {
                Thread.onSpinWait();
            } else {
                LockSupport.parkNanos(left);
            }
        }
    }
}
