package dev.holdfast.benchmarks.workload.local;

import dev.holdfast.DistributedLock;
import dev.holdfast.Hold;
import dev.holdfast.Holdfast;
import dev.holdfast.store.memory.ReferenceStore;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;

/** The operations that {@link Reentrancy} measures, on locks that the thread holds throughout. */
@State(Scope.Thread)
@BenchmarkMode(Mode.Throughput)
@OutputTimeUnit(TimeUnit.SECONDS)
public class NestedOperations {

    private final ReferenceStore store = new ReferenceStore();
    private final Holdfast holdfast = Holdfast.builder(store).build();
    private final DistributedLock lock = holdfast.lock("held");
    private final ReentrantLock jdkLock = new ReentrantLock();

    private @Nullable Hold outer;

    @Setup
    public void acquire() throws InterruptedException {
        outer = lock.acquire();
        jdkLock.lock();
    }

    @TearDown
    public void release() {
        Hold hold = Objects.requireNonNull(outer);
        hold.ensureHeld();
        hold.close();
        jdkLock.unlock();
        holdfast.close();
        store.close();
    }

    @Benchmark
    public void acquireClose() throws InterruptedException {
        Hold nested = lock.acquire();
        nested.close();
    }

    @Benchmark
    @SuppressWarnings("LockNotBeforeTry") // what a try block costs is not the question
    public void lockUnlock() {
        lock.lock();
        lock.unlock();
    }

    @Benchmark
    public boolean isHeld() {
        return lock.isHeldByCurrentThread();
    }

    @Benchmark
    @SuppressWarnings("LockNotBeforeTry") // as above
    public void jdkLockUnlock() {
        jdkLock.lock();
        jdkLock.unlock();
    }
}
