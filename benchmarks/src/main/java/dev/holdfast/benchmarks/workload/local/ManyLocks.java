package dev.holdfast.benchmarks.workload.local;

import dev.holdfast.DistributedLock;
import dev.holdfast.Hold;
import dev.holdfast.Holdfast;
import dev.holdfast.benchmarks.contestant.holdfast.BlankStore;
import dev.holdfast.benchmarks.contestant.holdfast.CountingStore;
import dev.holdfast.benchmarks.contestant.holdfast.Holdfasts;
import dev.holdfast.benchmarks.harness.Bench;
import dev.holdfast.benchmarks.harness.Measurements;
import dev.holdfast.benchmarks.workload.Figure;
import dev.holdfast.benchmarks.workload.Unit;
import dev.holdfast.benchmarks.workload.Workload;
import dev.holdfast.spi.Command;
import java.lang.management.ManagementFactory;
import java.lang.management.MemoryMXBean;
import java.lang.management.ThreadMXBean;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;

/** One client with many locks. */
final class ManyLocks {

    private static final int IDLE = 100_000;
    private static final int LOCKS_HELD = 10_000;
    private static final Duration TTL = Duration.ofSeconds(3);
    private static final Duration INTERVAL = Duration.ofSeconds(1);

    /** A store that keeps nothing, so that the heap is the client's alone. */
    private static final String CLIENT_ALONE = "client-alone";

    private ManyLocks() {}

    static Workload workload() {
        Workload workload = LocalWorkloads.of(
                "many-locks",
                "Many locks in one client",
                String.format(
                        Locale.ROOT,
                        "One thread makes %,d lock objects, acquires %,d of them, and keeps these while the commands"
                                + " that reach the store are counted, with a ttl of %d s. *Heap* is what is in use"
                                + " after a full collection, per lock, with the lock object and the hold but without"
                                + " the text of the name; in the cell `%s` behind a store that keeps nothing.",
                        IDLE,
                        LOCKS_HELD,
                        TTL.toSeconds(),
                        CLIENT_ALONE));
        workload.show(
                Figure.of(CLIENT_ALONE, "heap per idle lock", Unit.BYTES, "bytes idle"),
                Figure.of(CLIENT_ALONE, "heap per held lock", Unit.BYTES, "bytes held")
                        .atMost(512),
                Figure.of(Holdfasts.MEMORY.title(), "heap per held lock, store included", Unit.BYTES, "bytes held"));
        add(CLIENT_ALONE, place -> new BlankStore(), workload);
        for (Holdfasts holdfast : List.of(Holdfasts.MEMORY, Holdfasts.SQLITE_NORMAL)) {
            add(holdfast.title(), holdfast.opening(), workload);
        }
        return workload;
    }

    private static void add(String cell, Holdfasts.Opening opening, Workload workload) {
        workload.cell(cell, (bench, measurements) -> {
            try (CountingStore store = new CountingStore(opening.open(bench.place()));
                    Holdfast holdfast = Holdfast.builder(store)
                            .sessionTtl(TTL)
                            .keepAliveEvery(INTERVAL)
                            .build()) {
                measure(holdfast, store, bench, measurements);
            }
        });
        workload.show(
                Figure.of(cell, "keep-alives per interval", Unit.COUNT, "keep-alives")
                        .atMost(1),
                Figure.of(cell, "audit commands per ttl", Unit.COUNT, "audits"),
                Figure.of(cell, "other commands", Unit.COUNT, "others").atMost(0),
                Figure.of(cell, "threads more than for one lock", Unit.COUNT, "more threads")
                        .atMost(0));
    }

    private static void measure(Holdfast holdfast, CountingStore store, Bench bench, Measurements measurements)
            throws Exception {
        List<String> names = IntStream.range(0, bench.scaled(IDLE))
                .mapToObj(i -> "tenant-7/order-" + i)
                .toList();
        try (Hold first = holdfast.lock("first").acquire()) {
            ThreadMXBean threads = ManagementFactory.getThreadMXBean();
            threads.resetPeakThreadCount();
            int threadsForOne = threads.getThreadCount();
            long none = heap();
            List<DistributedLock> locks = new ArrayList<>(names.size());
            names.forEach(name -> locks.add(holdfast.lock(name)));
            long idle = heap();
            List<Hold> holds = new ArrayList<>(bench.scaled(LOCKS_HELD));
            for (DistributedLock lock : locks.subList(0, bench.scaled(LOCKS_HELD))) {
                holds.add(lock.acquire());
            }
            double perIdle = (double) (idle - none) / locks.size();
            measurements.put("bytes idle", perIdle);
            measurements.put("bytes held", perIdle + (double) (heap() - idle) / holds.size());
            keep(store, bench, measurements);
            measurements.put("more threads", threads.getPeakThreadCount() - threadsForOne);
            if (!first.isHeld() || !holds.stream().allMatch(Hold::isHeld)) {
                measurements.violation("a hold was lost");
            }
            holds.forEach(Hold::close);
        }
    }

    /** Counts the commands while nothing happens. */
    private static void keep(CountingStore store, Bench bench, Measurements measurements) throws InterruptedException {
        long keepAlives = store.count(Command.KeepAlive.class);
        long audits = store.count(Command.Audit.class);
        long all = store.total();
        long begin = System.nanoTime();
        TimeUnit.NANOSECONDS.sleep(bench.time().toNanos());
        double intervals = (double) (System.nanoTime() - begin) / INTERVAL.toNanos();
        double keeping = store.count(Command.KeepAlive.class) - keepAlives;
        double auditing = store.count(Command.Audit.class) - audits;
        measurements.put("keep-alives", keeping / intervals);
        measurements.put("audits", auditing / intervals * TTL.toNanos() / INTERVAL.toNanos());
        measurements.put("others", store.total() - all - keeping - auditing);
    }

    private static long heap() {
        MemoryMXBean memory = ManagementFactory.getMemoryMXBean();
        memory.gc();
        memory.gc();
        return memory.getHeapMemoryUsage().getUsed();
    }
}
