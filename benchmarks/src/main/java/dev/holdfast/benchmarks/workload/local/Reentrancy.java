package dev.holdfast.benchmarks.workload.local;

import com.sun.management.ThreadMXBean;
import dev.holdfast.DistributedLock;
import dev.holdfast.Hold;
import dev.holdfast.Holdfast;
import dev.holdfast.benchmarks.harness.Bench;
import dev.holdfast.benchmarks.harness.Sheet;
import dev.holdfast.benchmarks.workload.Cell;
import dev.holdfast.benchmarks.workload.Figure;
import dev.holdfast.benchmarks.workload.Unit;
import dev.holdfast.benchmarks.workload.Workload;
import dev.holdfast.store.memory.ReferenceStore;
import java.lang.management.ManagementFactory;
import java.util.List;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;

/** What an owner does with a lock that it has already: nothing of it concerns the store. */
public final class Reentrancy implements Workload {

    private static final double PER_SECOND = 10_000_000;

    /** What the handle of a nested acquisition takes: a header, a reference and a flag, rounded up. */
    private static final int BYTES_OF_A_HOLD = 24;

    /** How many operations between two looks at the clock. */
    private static final int BATCH = 10_000;

    /** Something that is done over and over. */
    @FunctionalInterface
    private interface Operation {
        /** Does it so often; answers how often it went as it should. */
        int repeat(int times) throws InterruptedException;
    }

    @Override
    public String id() {
        return "reentrant";
    }

    @Override
    public String title() {
        return "A lock that the thread holds already";
    }

    @Override
    public String method() {
        return "One thread holds the lock throughout, and acquires and releases it once more, as a handle or in the "
                + "manner of `Lock`, or asks whether it holds it. *Speed* is per second of the thread's processor time, so that "
                + "what other programs take away does not count. *Bytes* are what the thread allocates for each of "
                + "these; the handle is an object of " + BYTES_OF_A_HOLD + " bytes, and nothing else should be made.";
    }

    @Override
    public List<Cell> cells() {
        return List.of(
                cell("acquire-close", Reentrancy::acquireAndClose),
                cell("lock-unlock", Reentrancy::lockAndUnlock),
                cell("is-held", Reentrancy::ask),
                new Cell("jdk-lock-unlock", (bench, sheet) -> {
                    ReentrantLock lock = new ReentrantLock();
                    lock.lock();
                    try {
                        measure(bench, times -> lockAndUnlock(lock, times), sheet);
                    } finally {
                        lock.unlock();
                    }
                }));
    }

    private interface HeldLockOperation {
        int repeat(DistributedLock lock, int times) throws InterruptedException;
    }

    private static Cell cell(String id, HeldLockOperation operation) {
        return new Cell(id, (bench, sheet) -> {
            try (ReferenceStore store = new ReferenceStore();
                    Holdfast holdfast = Holdfast.builder(store).build()) {
                DistributedLock lock = holdfast.lock("held");
                try (Hold hold = lock.acquire()) {
                    measure(bench, times -> operation.repeat(lock, times), sheet);
                    hold.ensureHeld();
                }
            }
        });
    }

    private static int acquireAndClose(DistributedLock lock, int times) throws InterruptedException {
        for (int i = 0; i < times; i++) {
            Hold nested = lock.acquire();
            nested.close();
        }
        return times;
    }

    @SuppressWarnings("LockNotBeforeTry") // what a try block costs is not the question
    private static int lockAndUnlock(Lock lock, int times) {
        for (int i = 0; i < times; i++) {
            lock.lock();
            lock.unlock();
        }
        return times;
    }

    private static int ask(DistributedLock lock, int times) {
        int yes = 0;
        for (int i = 0; i < times; i++) {
            if (lock.isHeldByCurrentThread()) {
                yes++;
            }
        }
        return yes;
    }

    private static void measure(Bench bench, Operation operation, Sheet sheet) throws InterruptedException {
        while (System.nanoTime() - bench.begin() < 0) {
            require(operation.repeat(BATCH), sheet);
        }
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        long self = Thread.currentThread().getId();
        long bytes = threads.getThreadAllocatedBytes(self);
        long done = 0;
        long cpu = threads.getCurrentThreadCpuTime();
        long begin = System.nanoTime();
        long now = begin;
        while (now - begin < bench.time().toNanos()) {
            require(operation.repeat(BATCH), sheet);
            done += BATCH;
            now = System.nanoTime();
        }
        sheet.put("ops/s", done * 1e9 / (threads.getCurrentThreadCpuTime() - cpu));
        sheet.put("bytes", (double) (threads.getThreadAllocatedBytes(self) - bytes) / done);
    }

    private static void require(int good, Sheet sheet) {
        if (good != BATCH) {
            sheet.violation("the owner was told that it does not hold the lock");
        }
    }

    @Override
    public List<Figure> figures() {
        return List.of(
                speed("acquire-close").atLeast(PER_SECOND),
                bytes("acquire-close").atMost(BYTES_OF_A_HOLD),
                speed("lock-unlock").atLeast(PER_SECOND),
                bytes("lock-unlock").atMost(0.5),
                speed("is-held").atLeast(PER_SECOND),
                bytes("is-held").atMost(0.5),
                speed("jdk-lock-unlock"));
    }

    private static Figure speed(String cell) {
        return Figure.of(cell, "speed", Unit.PER_SECOND, "ops/s");
    }

    private static Figure bytes(String cell) {
        return Figure.of(cell, "allocated", Unit.BYTES, "bytes");
    }
}
