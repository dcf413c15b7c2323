package dev.holdfast.engine.time;

import dev.holdfast.Environment;
import java.time.Duration;
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
public final class ElapsedClock {

    /**
     * A step is told from the slewing and the grain of clocks by its size: a second, or less where that would eat up
     * the margin of a short ttl.
     */
    private static final long MAX_STEP_NANOS = TimeUnit.SECONDS.toNanos(1);

    /** The smallest step, as a part of the ttl: a third of the least margin. */
    private static final int STEPS_PER_TTL = 30;

    /**
     * The wall clock's offset is followed when it has drifted by this much, so that slow slewing never adds up to a
     * step, and a short sleep is found out.
     */
    private static final long DRIFT_NANOS = TimeUnit.MILLISECONDS.toNanos(20);

    /** What a boot clock that counts in hundredths of a second may seem to run ahead of the monotonic one. */
    private static final long GRAIN_NANOS = TimeUnit.MILLISECONDS.toNanos(10);

    private static final long TORN_NANOS = TimeUnit.MILLISECONDS.toNanos(1);
    private static final int READINGS_MAX = 5;

    private record Reading(long monotonic, long boot, long wall) {}

    private final Environment environment;
    private final ReentrantLock stepLock = new ReentrantLock();
    private final long smallestStep;
    private final long bootOffset;

    // Written under stepLock, read without.
    private volatile long wallOffset;
    private volatile long suspended;
    private volatile long steps;

    public ElapsedClock(Environment environment, Duration ttl) {
        this.environment = environment;
        smallestStep = Math.max(2 * DRIFT_NANOS, Math.min(MAX_STEP_NANOS, ttl.toNanos() / STEPS_PER_TTL));
        Reading first = read();
        bootOffset = first.boot - first.monotonic;
        wallOffset = first.wall - first.monotonic;
    }

    /** Elapsed nanoseconds from an arbitrary point, after a look for steps; compared by subtraction. */
    public long now() {
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
    public long steps() {
        return steps;
    }

    @SuppressWarnings("NonAtomicVolatileUpdate") // under stepLock
    private void followWall() {
        stepLock.lock();
        try {
            Reading read = read();
            long offset = read.wall - read.monotonic;
            // The boot clock is coarse: what it says beyond its grain was suspension, and time that has passed.
            long slept = read.boot - read.monotonic - bootOffset - suspended;
            if (slept > GRAIN_NANOS) {
                suspended += slept;
            } else {
                slept = 0;
            }
            if (offset - wallOffset - slept > smallestStep) {
                steps++;
            }
            wallOffset = offset;
        } finally {
            stepLock.unlock();
        }
    }

    /**
     * The three clocks at one moment: read again if this thread was put aside in between, which would look like a jump.
     */
    private Reading read() {
        for (int attempt = 1; ; attempt++) {
            long before = environment.monotonicNanos();
            Reading reading = new Reading(before, environment.bootNanos(), wallNanos());
            if (environment.monotonicNanos() - before < TORN_NANOS || attempt == READINGS_MAX) {
                return reading;
            }
        }
    }

    private long wallNanos() {
        return TimeUnit.MILLISECONDS.toNanos(environment.wallMillis());
    }
}
