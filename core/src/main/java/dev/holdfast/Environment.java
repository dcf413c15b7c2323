package dev.holdfast;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import java.util.concurrent.Executor;
import java.util.concurrent.locks.LockSupport;

/**
 * Time, threads and randomness as the client sees them. The default is the system's; tests bring their own to run a
 * client on virtual time.
 *
 * <p><b>Thread-safety:</b> all methods may be called from any thread.
 */
public interface Environment {

    /**
     * A clock that never steps and may stand still while the machine is suspended, in nanoseconds from an arbitrary
     * point; compared by subtraction.
     */
    long monotonicNanos();

    /**
     * A clock like the monotonic one that runs on while the machine is suspended, in nanoseconds; may be coarse. Equal
     * to the monotonic one where there is none.
     */
    long bootNanos();

    /** The wall clock, in milliseconds since 1970. Only its sudden steps matter, never its value. */
    long wallMillis();

    /**
     * Runs a short task once, not before a time has passed. Tasks of one environment may run at the same time.
     *
     * @return cancels the task; without effect if it has run
     */
    @CanIgnoreReturnValue
    Timer schedule(long delayNanos, Runnable task);

    /**
     * As {@link #schedule}, for renewals of leases, which must not wait for other tasks: a client loses its holds if a
     * renewal is late. By default they are scheduled with the others.
     */
    @CanIgnoreReturnValue
    default Timer scheduleRenewal(long delayNanos, Runnable task) {
        return schedule(delayNanos, task);
    }

    /**
     * Parks the calling thread until it is unparked or interrupted, or the monotonic clock has reached a time; as
     * {@link LockSupport#parkNanos(Object, long)} it may return early, for no reason, and returns at once if the thread
     * was unparked since it last parked. An implementation must not wait for locks, which could consume that wake-up.
     *
     * @param blocker what the thread waits for, for thread dumps
     * @param deadline a time of {@link #monotonicNanos()}
     */
    default void parkUntil(Object blocker, long deadline) {
        LockSupport.parkNanos(blocker, deadline - monotonicNanos());
    }

    /**
     * The most nanoseconds that a thread may spin, calling {@link Thread#yield()}, for a store's reply that it expects
     * at once, before it parks. Whether it spins depends on how earlier spins went. By default 0: no thread spins.
     */
    default long maxSpinNanos() {
        return 0;
    }

    /**
     * Where listeners and the dependent actions of asynchronous calls run. By default a few threads, and up to 256
     * while callbacks block, so that these do not delay grants and time-outs of others. A rejected task runs on the
     * thread that submitted it, which other locks may wait for.
     */
    Executor callbacks();

    /**
     * Where listeners for a loss or a deadlock run. They should wait neither for each other nor for tasks on
     * {@link #callbacks()}. By default they run on that executor too. A rejected task runs on the executor for
     * callbacks.
     */
    default Executor lossListeners() {
        return callbacks();
    }

    /** An evenly distributed random number of 64 bits. */
    long randomLong();

    /** A task that was scheduled. */
    @FunctionalInterface
    interface Timer {
        /** Keeps the task from starting, if it has not started. */
        void cancel();
    }
}
