package dev.holdfast.benchmarks.workload.local;

import dev.holdfast.DistributedLock;
import dev.holdfast.Hold;
import dev.holdfast.Holdfast;
import dev.holdfast.benchmarks.contestant.holdfast.BlankStore;
import dev.holdfast.benchmarks.contestant.holdfast.CountingStore;
import dev.holdfast.benchmarks.contestant.holdfast.Holdfasts;
import dev.holdfast.benchmarks.harness.Bench;
import dev.holdfast.benchmarks.harness.Sheet;
import dev.holdfast.benchmarks.workload.Cell;
import dev.holdfast.benchmarks.workload.Figure;
import dev.holdfast.benchmarks.workload.Unit;
import dev.holdfast.benchmarks.workload.Workload;
import dev.holdfast.spi.Command;
import dev.holdfast.spi.LockStore;
import java.lang.management.ManagementFactory;
import java.lang.management.MemoryMXBean;
import java.lang.management.ThreadMXBean;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;

/** One client with many locks. */
public final class ManyLocks implements Workload {

    private static final int IDLE = 100_000;
    private static final int HELD = 10_000;
    private static final Duration TTL = Duration.ofSeconds(3);
    private static final Duration INTERVAL = Duration.ofSeconds(1);

    /** A store that keeps nothing, so that the heap is the client's alone; and those that do keep something. */
    private static final String CLIENT_ALONE = "client-alone";

    private static final List<Holdfasts> STORES = List.of(Holdfasts.MEMORY, Holdfasts.SQLITE_NORMAL);

    private interface Opening {
        LockStore open(Bench bench);
    }

    @Override
    public String id() {
        return "many-locks";
    }

    @Override
    public String title() {
        return "Many locks in one client";
    }

    @Override
    public String method() {
        return String.format(
                "One thread makes %,d lock objects, acquires %,d of them, and keeps these while the commands"
                        + " that reach the store are counted, with a ttl of %d s. *Heap* is what is in use after a full"
                        + " collection, per lock, with all that the caller keeps (the lock object and the hold) but"
                        + " without the text of the name; in the cell `%s` behind a store that keeps nothing, in the"
                        + " cell `%s` with what the store in memory keeps for the lock.",
                IDLE, HELD, TTL.toSeconds(), CLIENT_ALONE, Holdfasts.MEMORY.title());
    }

    @Override
    public List<Cell> cells() {
        List<Cell> cells = new ArrayList<>();
        cells.add(cell(CLIENT_ALONE, bench -> new BlankStore()));
        STORES.forEach(store -> cells.add(cell(store.title(), bench -> store.open(bench.place()))));
        return cells;
    }

    private static Cell cell(String id, Opening opening) {
        return new Cell(id, (bench, sheet) -> {
            try (CountingStore store = new CountingStore(opening.open(bench));
                    Holdfast holdfast = Holdfast.builder(store)
                            .sessionTtl(TTL)
                            .keepAliveEvery(INTERVAL)
                            .build()) {
                measure(holdfast, store, bench, sheet);
            }
        });
    }

    private static void measure(Holdfast holdfast, CountingStore store, Bench bench, Sheet sheet) throws Exception {
        List<String> names = IntStream.range(0, bench.scaled(IDLE))
                .mapToObj(i -> "tenant-7/order-" + i)
                .toList();
        try (Hold first = holdfast.lock("first").acquire()) {
            bench.awaitBegin();
            ThreadMXBean threads = ManagementFactory.getThreadMXBean();
            threads.resetPeakThreadCount();
            int threadsForOne = threads.getThreadCount();
            long none = heap();
            List<DistributedLock> locks = new ArrayList<>(names.size());
            names.forEach(name -> locks.add(holdfast.lock(name)));
            long idle = heap();
            List<Hold> holds = new ArrayList<>(bench.scaled(HELD));
            for (DistributedLock lock : locks.subList(0, bench.scaled(HELD))) {
                holds.add(lock.acquire());
            }
            double perIdle = (double) (idle - none) / locks.size();
            sheet.put("bytes idle", perIdle);
            sheet.put("bytes held", perIdle + (double) (heap() - idle) / holds.size());
            keep(store, bench, sheet);
            sheet.put("more threads", threads.getPeakThreadCount() - threadsForOne);
            if (!first.isHeld() || !holds.stream().allMatch(Hold::isHeld)) {
                sheet.violation("a hold was lost");
            }
            holds.forEach(Hold::close);
        }
    }

    /** Counts what is sent while nothing happens. */
    private static void keep(CountingStore store, Bench bench, Sheet sheet) throws InterruptedException {
        long keepAlives = store.count(Command.KeepAlive.class);
        long audits = store.count(Command.Audit.class);
        long all = store.total();
        long begin = System.nanoTime();
        TimeUnit.NANOSECONDS.sleep(bench.time().toNanos());
        double intervals = (double) (System.nanoTime() - begin) / INTERVAL.toNanos();
        double keeping = store.count(Command.KeepAlive.class) - keepAlives;
        double auditing = store.count(Command.Audit.class) - audits;
        sheet.put("keep-alives", keeping / intervals);
        sheet.put("audits", auditing / intervals * TTL.toNanos() / INTERVAL.toNanos());
        sheet.put("others", store.total() - all - keeping - auditing);
    }

    private static long heap() {
        MemoryMXBean memory = ManagementFactory.getMemoryMXBean();
        memory.gc();
        memory.gc();
        return memory.getHeapMemoryUsage().getUsed();
    }

    @Override
    public List<Figure> figures() {
        List<Figure> figures = new ArrayList<>();
        figures.add(Figure.of(CLIENT_ALONE, "heap per idle lock", Unit.BYTES, "bytes idle"));
        figures.add(Figure.of(CLIENT_ALONE, "heap per held lock", Unit.BYTES, "bytes held")
                .atMost(512));
        figures.add(
                Figure.of(Holdfasts.MEMORY.title(), "heap per held lock, store included", Unit.BYTES, "bytes held"));
        for (Cell cell : cells()) {
            figures.add(Figure.of(cell.id(), "keep-alives per interval", Unit.COUNT, "keep-alives")
                    .atMost(1));
            figures.add(Figure.of(cell.id(), "audit commands per ttl", Unit.COUNT, "audits"));
            figures.add(
                    Figure.of(cell.id(), "other commands", Unit.COUNT, "others").atMost(0));
            figures.add(Figure.of(cell.id(), "threads more than for one lock", Unit.COUNT, "more threads")
                    .atMost(0));
        }
        return figures;
    }
}
