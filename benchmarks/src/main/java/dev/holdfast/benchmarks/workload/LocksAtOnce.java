package dev.holdfast.benchmarks.workload;

import dev.holdfast.Hold;
import dev.holdfast.Holdfast;
import dev.holdfast.benchmarks.contestant.holdfast.Holdfasts;
import dev.holdfast.benchmarks.harness.Bench;
import dev.holdfast.benchmarks.harness.Measurements;
import dev.holdfast.spi.LockStore;
import java.lang.management.ManagementFactory;
import java.lang.management.MemoryMXBean;
import java.time.Duration;
import java.util.Locale;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.function.IntFunction;

/** Very many locks that one client holds at the same time: acquired, renewed for three ttls, and released. */
public final class LocksAtOnce {

    private static final int IN_FLIGHT = 256;
    private static final Duration TTL = Duration.ofSeconds(30);
    private static final int TTLS = 3;

    private LocksAtOnce() {}

    /** What the workload does, for the page. */
    public static String method(int locks) {
        return String.format(
                Locale.ROOT,
                "One client with 1 GiB of heap acquires %,d locks, at most %d at a time, keeps them for %d ttls of"
                        + " %d s, with audits, and releases them. *Heap* is what is in use after a full collection, per lock,"
                        + " with the hold and the name; in memory with the store. No lock may be lost.",
                locks,
                IN_FLIGHT,
                TTLS,
                TTL.toSeconds());
    }

    /** Adds the cell of a store. */
    public static void fill(Workload workload, Holdfasts ours, int locks) {
        String cell = ours.title();
        workload.cell(cell, (bench, measurements) -> {
            try (LockStore store = ours.open(bench.place());
                    Holdfast holdfast = Holdfast.builder(store)
                            .sessionTtl(TTL)
                            .keepAliveEvery(TTL.dividedBy(TTLS))
                            .build()) {
                measure(holdfast, bench.scaled(locks), bench, measurements);
            }
        });
        workload.show(
                Figure.of(cell, "heap per held lock", Unit.BYTES, "heap"),
                Figure.of(cell, "acquisitions", Unit.PER_SECOND, "acquisitions"),
                Figure.of(cell, "releases", Unit.PER_SECOND, "releases"));
    }

    private static void measure(Holdfast holdfast, int locks, Bench bench, Measurements measurements)
            throws InterruptedException {
        AtomicReferenceArray<Hold> holds = new AtomicReferenceArray<>(locks);
        holdfast.lock("first").acquire().close();
        long before = heap();
        double acquiring = seconds(
                locks, i -> holdfast.lock("tenant-7/order-" + i).acquireAsync().thenAccept(hold -> holds.set(i, hold)));
        measurements.put("acquisitions", locks / acquiring);
        measurements.put("heap", (double) (heap() - before) / locks);
        TimeUnit.NANOSECONDS.sleep(bench.scaled(TTL.multipliedBy(TTLS)).toNanos());
        for (int i = 0; i < locks; i++) {
            Hold hold = holds.get(i);
            if (hold == null || !hold.isHeld()) {
                measurements.violation("a lock was not acquired, or was lost");
                return;
            }
        }
        double releasing = seconds(locks, i -> holds.get(i).releaseAsync());
        measurements.put("releases", locks / releasing);
    }

    /** The seconds that some calls take, of which a bounded number is in flight. */
    private static double seconds(int calls, IntFunction<CompletionStage<?>> call) throws InterruptedException {
        Semaphore inFlight = new Semaphore(IN_FLIGHT);
        long start = System.nanoTime();
        for (int i = 0; i < calls; i++) {
            inFlight.acquire();
            var unused = call.apply(i).whenComplete((done, failure) -> inFlight.release());
        }
        inFlight.acquire(IN_FLIGHT);
        return (System.nanoTime() - start) / 1e9;
    }

    private static long heap() {
        MemoryMXBean memory = ManagementFactory.getMemoryMXBean();
        memory.gc();
        memory.gc();
        return memory.getHeapMemoryUsage().getUsed();
    }
}
