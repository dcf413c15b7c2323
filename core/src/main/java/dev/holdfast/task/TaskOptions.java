package dev.holdfast.task;

import dev.holdfast.engine.time.Durations;
import dev.holdfast.spi.support.DurationFormat;
import java.time.Duration;

/**
 * How long the lock of a scheduled task lasts. Immutable; each {@code with} method returns a changed copy.
 *
 * <pre>{@code
 * nightly.runIfDue(TaskOptions.atMost(ofHours(1)).withAtLeast(ofMinutes(5)), hold -> write(report));
 * }</pre>
 */
public final class TaskOptions {

    private final Duration atMost;
    private final Duration atLeast;

    private TaskOptions(Duration atMost, Duration atLeast) {
        this.atMost = atMost;
        this.atLeast = atLeast;
    }

    /**
     * The lock lasts at most this long, even if the process that runs the task is still alive. Then others may run it.
     *
     * @param time 200 ms to a hundred years: longer than the longest run that you expect
     * @throws IllegalArgumentException if it is out of range
     */
    public static TaskOptions atMost(Duration time) {
        return new TaskOptions(Durations.lease("atMost", time), Duration.ZERO);
    }

    /**
     * The lock lasts at least this long from the start of the task, even if the task ends early: longer than the clocks
     * of the machines differ. Zero by default.
     *
     * @param time zero to {@link #atMost()}
     * @throws IllegalArgumentException if it is out of range
     */
    public TaskOptions withAtLeast(Duration time) {
        if (time.isNegative() || time.compareTo(atMost) > 0) {
            throw new IllegalArgumentException("atLeast must be between zero and atMost ("
                    + DurationFormat.format(atMost) + "), but was " + DurationFormat.format(time));
        }
        return new TaskOptions(atMost, time);
    }

    /** How long the lock lasts at most. */
    public Duration atMost() {
        return atMost;
    }

    /** How long the lock lasts at least. */
    public Duration atLeast() {
        return atLeast;
    }

    @Override
    public String toString() {
        return "atMost=" + atMost + " atLeast=" + atLeast;
    }
}
