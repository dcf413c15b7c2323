package dev.holdfast.engine.time;

import dev.holdfast.Environment;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;

/*
 * The clock of all deadlines. Elapsed time is the larger of the monotonic and the boot clock, so that leases end while
 * the machine is suspended. Both may stand still while a virtual machine is frozen; only the wall clock shows that, by
 * a sudden step forward against them. Such a step is a reason to ask the store, never to extend or to grant. It
 * therefore only increments a counter, which puts every hold in doubt.
 */

/**
 * Elapsed time that includes suspension, and a counter of forward steps of the wall clock. Thread-safe; never blocks
 * for long.
 */
public final class ElapsedClock {

    /**
     * A step is distinguished from the slewing and granularity of clocks by its size: a second, or less if that would
     * use up the margin of a short ttl.
     */
    private static final long MAX_STEP_NANOS = TimeUnit.SECONDS.toNanos(1);

    /** The smallest step, as a part of the ttl: a third of the least margin. */
    private static final int STEPS_PER_TTL = 30;

    /**
     * The wall clock's offset is updated when it has drifted by this much, so that slow slewing never adds up to a
     * step, and a short suspension is noticed.
     */
    private static final long DRIFT_NANOS = TimeUnit.MILLISECONDS.toNanos(20);

    /** How far a boot clock that counts in hundredths of a second may seem ahead of the monotonic one. */
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

    /** Checks for steps, and returns elapsed nanoseconds from an arbitrary point; compared by subtraction. */
    public long now() {
        long monotonic = environment.monotonicNanos();
        long jump = wallNanos() - monotonic - wallOffset;
        if (jump > DRIFT_NANOS || jump < -DRIFT_NANOS) {
            followWall();
        }
        return monotonic + suspended;
    }

    /**
     * The number of forward steps. A hold is in doubt until a request is answered that was sent after the newest one.
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
            // The boot clock is coarse: a difference beyond its granularity was suspension, which counts.
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
     * The three clocks at one moment: read again if this thread was suspended in between, which would look like a step.
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
