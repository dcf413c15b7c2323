package dev.holdfast.test;

import dev.holdfast.Environment;
import dev.holdfast.spi.support.DurationFormat;
import java.time.Duration;
import java.util.Comparator;
import java.util.NavigableSet;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.TreeSet;
import java.util.concurrent.Executor;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Virtual time for clients under test. It stands still until the test advances it: only then do leases expire,
 * keep-alives go out and waits time out.
 *
 * <pre>{@code
 * try (ManualEnvironment time = new ManualEnvironment()) {
 *     ReferenceStore store = new ReferenceStore(time.unixMicros());
 *     Holdfast holdfast = Holdfast.builder(store).environment(time).build();
 *     Hold hold = holdfast.lock("ledger").acquire();
 *     time.suspend(Duration.ofMinutes(1));       // asleep for longer than the lease
 *     assertThat(hold.isHeld()).isFalse();
 * }
 * }</pre>
 *
 * <p>Timers run on the thread that calls {@link #advance}, in the order of their times. Callbacks run on one thread of
 * the environment, in the order of their arrival, and {@code advance} returns when those that it caused have run.
 * Clients may share an environment; with one each, their machines can sleep independently.
 *
 * <p><b>Thread-safety:</b> all methods may be called from any thread.
 */
public final class ManualEnvironment implements Environment, AutoCloseable {

    /** 2025-06-15; any date will do. */
    private static final long START_MICROS = 1_750_000_000_000_000L;

    private static final long SEED = 42;

    /** Far longer than a callback takes, even on an overloaded machine. */
    private static final Duration CALLBACKS_TIMEOUT = Duration.ofSeconds(60);

    private record Task(long at, long number, Runnable action) {}

    private final ThreadPoolExecutor executor;

    /** Held by the thread that advances time. */
    private final ReentrantLock advancing = new ReentrantLock();

    private final ReentrantLock lock = new ReentrantLock();
    private final Condition callbacksDone = lock.newCondition();

    // Guarded by lock.
    private final NavigableSet<Task> tasks =
            new TreeSet<>(Comparator.comparingLong(Task::at).thenComparingLong(Task::number));
    private final SplittableRandom random = new SplittableRandom(SEED);
    private long numbers;
    private long now;
    private long suspended;
    private long wallAhead;
    private int callbacksToRun;
    private @Nullable Thread callbackThread;

    /** Creates an environment, which starts no thread before the first callback. */
    public ManualEnvironment() {
        executor = new ThreadPoolExecutor(1, 1, 1, TimeUnit.SECONDS, new LinkedBlockingQueue<>(), task -> {
            Thread thread = new Thread(task, "manual-callbacks");
            thread.setDaemon(true);
            return thread;
        });
        executor.allowCoreThreadTimeOut(true);
    }

    // ---- For the test

    /**
     * Advances all clocks, and runs the timers that are due.
     *
     * @throws IllegalArgumentException if the time is negative
     */
    public void advance(Duration by) {
        if (by.isNegative()) {
            throw new IllegalArgumentException(
                    "Time can't be moved back, but the step was " + DurationFormat.format(by));
        }
        advancing.lock();
        try {
            long end = now() + by.toNanos();
            for (Task due = next(end); due != null; due = next(end)) {
                due.action.run();
            }
        } finally {
            advancing.unlock();
        }
        settle();
    }

    /**
     * Puts the machine to sleep for a while: the boot clock, the wall clock and the clocks of {@linkplain #unixMicros()
     * other machines} advance, the monotonic clock stands still, and no timer runs.
     */
    public void suspend(Duration asleep) {
        runLocked(() -> {
            suspended += asleep.toNanos();
        });
    }

    /**
     * Sets only the wall clock forward, or back by a negative step, as after a correction or on a machine that was
     * frozen.
     */
    public void stepWall(Duration by) {
        runLocked(() -> {
            wallAhead += by.toNanos();
        });
    }

    /**
     * Waits until the callbacks submitted so far have run; on the thread of the callbacks, returns at once.
     *
     * @throws IllegalStateException if one of them does not return
     */
    public void settle() {
        long left = CALLBACKS_TIMEOUT.toNanos();
        lock.lock();
        try {
            while (callbacksToRun > 0 && callbackThread != Thread.currentThread()) {
                if (left <= 0) {
                    throw new IllegalStateException(
                            "A callback has not ended within " + DurationFormat.format(CALLBACKS_TIMEOUT));
                }
                left = callbacksDone.awaitNanos(left);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } finally {
            lock.unlock();
        }
    }

    /** The number of timers that are set; few for an idle client, whatever it has done. */
    public int timers() {
        return locked(tasks::size);
    }

    /** The time until the next timer is due; empty if none is set. */
    public Optional<Duration> untilNextTimer() {
        return locked(() -> tasks.stream().findFirst().map(task -> Duration.ofNanos(Math.max(0, task.at - now))));
    }

    /**
     * The clock of a store on another machine, in microseconds since 1970. It advances while this machine sleeps, and
     * ignores steps of this machine's wall clock.
     */
    public LongSupplier unixMicros() {
        return () -> START_MICROS + TimeUnit.NANOSECONDS.toMicros(bootNanos());
    }

    /** Ends the thread of the callbacks as soon as it is idle. */
    @Override
    public void close() {
        executor.setKeepAliveTime(1, TimeUnit.MILLISECONDS);
    }

    // ---- For the client

    @Override
    public long monotonicNanos() {
        return now();
    }

    @Override
    public long bootNanos() {
        return locked(() -> now + suspended);
    }

    @Override
    public long wallMillis() {
        return locked(() -> TimeUnit.MICROSECONDS.toMillis(START_MICROS)
                + TimeUnit.NANOSECONDS.toMillis(now + suspended + wallAhead));
    }

    @Override
    public Timer schedule(long delayNanos, Runnable action) {
        long delay = Math.max(delayNanos, 0);
        return locked(() -> add(now > Long.MAX_VALUE - delay ? Long.MAX_VALUE : now + delay, action));
    }

    @Override
    public void parkUntil(Object blocker, long deadline) {
        Thread waiting = Thread.currentThread();
        Timer alarm;
        if (!lock.tryLock()) {
            // Waiting for the lock could consume the unpark that the caller waits for: the caller checks again instead.
            return;
        }
        try {
            if (deadline - now <= 0) {
                return;
            }
            alarm = add(deadline, () -> LockSupport.unpark(waiting));
        } finally {
            lock.unlock();
        }
        LockSupport.park(blocker);
        alarm.cancel();
    }

    @Override
    public Executor callbacks() {
        return this::callBack;
    }

    @Override
    public long randomLong() {
        return locked(random::nextLong);
    }

    // ---- Internal

    private <T> T locked(Supplier<T> action) {
        lock.lock();
        try {
            return action.get();
        } finally {
            lock.unlock();
        }
    }

    private void runLocked(Runnable action) {
        lock.lock();
        try {
            action.run();
        } finally {
            lock.unlock();
        }
    }

    private long now() {
        return locked(() -> now);
    }

    private Timer add(long at, Runnable action) {
        Task task = new Task(at, ++numbers, action);
        tasks.add(task);
        return () -> runLocked(() -> {
            tasks.remove(task);
        });
    }

    /** Takes the next task that is due by the end, and sets the clock to its time; without one, to the end. */
    private @Nullable Task next(long end) {
        lock.lock();
        try {
            Task first = tasks.isEmpty() ? null : tasks.first();
            if (first == null || first.at > end) {
                now = end;
                return null;
            }
            tasks.remove(first);
            now = Math.max(now, first.at);
            return first;
        } finally {
            lock.unlock();
        }
    }

    private void callBack(Runnable callback) {
        runLocked(() -> {
            callbacksToRun++;
        });
        executor.execute(() -> {
            runLocked(() -> {
                callbackThread = Thread.currentThread();
            });
            try {
                callback.run();
            } finally {
                runLocked(() -> {
                    callbacksToRun--;
                    callbacksDone.signalAll();
                });
            }
        });
    }
}
