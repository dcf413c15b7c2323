package dev.holdfast.engine;

import dev.holdfast.Environment;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;

/*
 * The clock of all deadlines. Elapsed time is the larger of the monotonic and the boot clock, so that a suspended
 * machine finds its leases ended. Both may stand still while a virtual machine is frozen; only the wall clock betrays
 * that, by a sudden step forward against them. Such a step is a reason to ask the store, never to extend or to grant,
 * so all it does here is to raise a counter that puts every hold in doubt.
 */

/**
 * Elapsed time that counts suspension, and a counter of the forward steps of the wall clock. Thread-safe; never blocks
 * for long.
 */
final class ElapsedClock {

    /** A step is told from the slewing and the grain of clocks by its size. */
    private static final long STEP_NANOS = TimeUnit.SECONDS.toNanos(1);

    /**
     * The wall clock's offset is followed when it has drifted by this much, so that slow slewing never adds up to a
     * step.
     */
    private static final long DRIFT_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

    private final Environment environment;
    private final ReentrantLock stepLock = new ReentrantLock();
    private final long bootOffset;

    // Written under stepLock, read without.
    private volatile long wallOffset;
    private volatile long suspended;
    private volatile long steps;

    ElapsedClock(Environment environment) {
        this.environment = environment;
        long now = environment.monotonicNanos();
        bootOffset = environment.bootNanos() - now;
        wallOffset = wallNanos() - now;
    }

    /** Elapsed nanoseconds from an arbitrary point, after a look for steps; compared by subtraction. */
    long now() {
        long monotonic = environment.monotonicNanos();
        long jump = wallNanos() - monotonic - wallOffset;
        if (jump > DRIFT_NANOS || jump < -DRIFT_NANOS) {
            followWall();
        }
        return monotonic + suspended;
    }

    /**
     * How many forward steps were seen; a hold is in doubt until a request that was sent after the newest one is
     * answered.
     */
    long steps() {
        return steps;
    }

    @SuppressWarnings("NonAtomicVolatileUpdate") // under stepLock
    private void followWall() {
        stepLock.lock();
        try {
            long monotonic = environment.monotonicNanos();
            long offset = wallNanos() - monotonic;
            long jump = offset - wallOffset;
            if (jump > STEP_NANOS) {
                long slept = Math.max(suspended, environment.bootNanos() - monotonic - bootOffset);
                long explained = slept - suspended;
                // The boot clock is coarse: what it says beyond its grain was suspension, and time that has passed.
                if (explained > DRIFT_NANOS) {
                    suspended = slept;
                }
                if (jump - explained > STEP_NANOS) {
                    steps = steps + 1;
                }
            }
            wallOffset = offset;
        } finally {
            stepLock.unlock();
        }
    }

    private long wallNanos() {
        return TimeUnit.MILLISECONDS.toNanos(environment.wallMillis());
    }
}
