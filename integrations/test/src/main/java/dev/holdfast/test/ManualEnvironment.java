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
import org.jspecify.annotations.Nullable;

/**
 * Time that stands still until a test moves it, for clients under test: leases end, keep-alives go out and waits are
 * over when the test says so, and at no other moment.
 *
 * <pre>{@code
 * try (ManualEnvironment time = new ManualEnvironment()) {
 *     ReferenceStore store = new ReferenceStore(time.unixMicros());
 *     Holdfast holdfast = Holdfast.builder(store).environment(time).build();
 *     Hold hold = holdfast.lock("ledger").acquire();
 *     time.suspend(Duration.ofMinutes(1));       // the lid is closed for longer than the lease
 *     assertThat(hold.isHeld()).isFalse();
 * }
 * }</pre>
 *
 * <p>Timers run on the thread that calls {@link #advance}, in the order of their times. Callbacks run on one thread of
 * the environment, as they come, and {@code advance} returns when those that it brought about have run. Clients may
 * share an environment; one for each lets their machines sleep apart.
 *
 * <p><b>Thread-safety:</b> all methods may be called from any thread.
 */
public final class ManualEnvironment implements Environment, AutoCloseable {

    /** 2025-06-15; any time will do. */
    private static final long START_MICROS = 1_750_000_000_000_000L;

    private static final long SEED = 42;
    /** Far beyond what a callback takes, also on a machine that gives it no processor for a while. */
    private static final Duration CALLBACKS_WITHIN = Duration.ofSeconds(60);

    private record Task(long at, long number, Runnable action) {}

    private final ThreadPoolExecutor executor;

    /** Held by the thread that moves time. */
    private final ReentrantLock moving = new ReentrantLock();

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

    /** Starts no thread before there is a callback. */
    public ManualEnvironment() {
        executor = new ThreadPoolExecutor(1, 1, 1, TimeUnit.SECONDS, new LinkedBlockingQueue<>(), task -> {
            Thread thread = new Thread(task, "manual-callbacks");
            thread.setDaemon(true);
            return thread;
        });
        executor.allowCoreThreadTimeOut(true);
    }

    // ---- What a test does

    /**
     * Lets time pass: all clocks go on, and what is due runs.
     *
     * @throws IllegalArgumentException if the time is negative
     */
    public void advance(Duration by) {
        if (by.isNegative()) {
            throw new IllegalArgumentException(
                    "Time does not go back, but was to be moved by " + DurationFormat.format(by));
        }
        moving.lock();
        try {
            long end = now() + by.toNanos();
            for (Task due = next(end); due != null; due = next(end)) {
                due.action.run();
            }
        } finally {
            moving.unlock();
        }
        settle();
    }

    /**
     * Puts the machine to sleep for a while: the boot clock, the wall clock and the {@linkplain #unixMicros() world
     * outside} go on, the monotonic clock stands still, and no timer runs.
     */
    public void suspend(Duration asleep) {
        lock.lock();
        try {
            suspended += asleep.toNanos();
        } finally {
            lock.unlock();
        }
    }

    /**
     * Sets the wall clock forward, or back by a negative step, and no other: someone corrects it, or the machine was
     * frozen.
     */
    public void stepWall(Duration by) {
        lock.lock();
        try {
            wallAhead += by.toNanos();
        } finally {
            lock.unlock();
        }
    }

    /**
     * Waits until the callbacks that were given so far have run; returns at once on their own thread.
     *
     * @throws IllegalStateException if one of them does not end
     */
    public void settle() {
        long left = CALLBACKS_WITHIN.toNanos();
        lock.lock();
        try {
            while (callbacksToRun > 0 && callbackThread != Thread.currentThread()) {
                if (left <= 0) {
                    throw new IllegalStateException(
                            "A callback has not ended within " + DurationFormat.format(CALLBACKS_WITHIN));
                }
                left = callbacksDone.awaitNanos(left);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } finally {
            lock.unlock();
        }
    }

    /** How many timers are set: a client that is idle has a few, whatever it has done. */
    public int timers() {
        lock.lock();
        try {
            return tasks.size();
        } finally {
            lock.unlock();
        }
    }

    /** How long it is until the next timer is due; empty if none is set. */
    public Optional<Duration> untilNextTimer() {
        lock.lock();
        try {
            return tasks.stream().findFirst().map(task -> Duration.ofNanos(Math.max(0, task.at - now)));
        } finally {
            lock.unlock();
        }
    }

    /**
     * The clock of a store on another machine, in microseconds since 1970: goes on while this machine sleeps, and no
     * step of its wall clock moves it.
     */
    public LongSupplier unixMicros() {
        return () -> START_MICROS + TimeUnit.NANOSECONDS.toMicros(bootNanos());
    }

    /** Ends the thread of the callbacks as soon as it has nothing to do. */
    @Override
    public void close() {
        executor.setKeepAliveTime(1, TimeUnit.MILLISECONDS);
    }

    // ---- What the client sees

    @Override
    public long monotonicNanos() {
        return now();
    }

    @Override
    public long bootNanos() {
        lock.lock();
        try {
            return now + suspended;
        } finally {
            lock.unlock();
        }
    }

    @Override
    public long wallMillis() {
        lock.lock();
        try {
            return TimeUnit.MICROSECONDS.toMillis(START_MICROS)
                    + TimeUnit.NANOSECONDS.toMillis(now + suspended + wallAhead);
        } finally {
            lock.unlock();
        }
    }

    @Override
    public Timer schedule(long delayNanos, Runnable action) {
        lock.lock();
        try {
            long delay = Math.max(delayNanos, 0);
            return add(now > Long.MAX_VALUE - delay ? Long.MAX_VALUE : now + delay, action);
        } finally {
            lock.unlock();
        }
    }

    @Override
    public void parkUntil(Object blocker, long deadline) {
        Thread waiting = Thread.currentThread();
        Timer alarm;
        if (!lock.tryLock()) {
            // Waiting for the lock could use up the unpark that the caller waits for: it looks again instead.
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
        lock.lock();
        try {
            return random.nextLong();
        } finally {
            lock.unlock();
        }
    }

    // ---- Parts

    private long now() {
        lock.lock();
        try {
            return now;
        } finally {
            lock.unlock();
        }
    }

    private Timer add(long at, Runnable action) {
        Task task = new Task(at, ++numbers, action);
        tasks.add(task);
        return () -> {
            lock.lock();
            try {
                tasks.remove(task);
            } finally {
                lock.unlock();
            }
        };
    }

    /** The next task that is due by then, with the clock at its time; if there is none, the clock at the end. */
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
        lock.lock();
        try {
            callbacksToRun++;
        } finally {
            lock.unlock();
        }
        executor.execute(() -> {
            noteCallbackThread();
            try {
                callback.run();
            } finally {
                noteCallbackEnd();
            }
        });
    }

    private void noteCallbackThread() {
        lock.lock();
        try {
            callbackThread = Thread.currentThread();
        } finally {
            lock.unlock();
        }
    }

    private void noteCallbackEnd() {
        lock.lock();
        try {
            callbacksToRun--;
            callbacksDone.signalAll();
        } finally {
            lock.unlock();
        }
    }
}
