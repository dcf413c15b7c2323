package dev.holdfast.admin;

import java.io.Serializable;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * A run of a {@linkplain dev.holdfast.task.ScheduledTaskLock scheduled task} that has ended, as its client recorded it.
 * A process that dies records nothing: until the maximum time of its run has passed, it is still a holder of the task.
 *
 * <p>Both times are of the wall clock of the machine that ran the task. They are for people, and decide nothing.
 *
 * @param token the fencing token of the run
 * @param outcome how it ended
 * @param startedAt when it began; null if that is unknown
 * @param endedAt when it ended; null if that is unknown
 * @param label the label of its client. Text of another program, which may contain anything
 * @param failure the class of the exception that it threw; empty if it threw none. Text of another program, too
 */
public record RecordedRun(
        long token,
        Outcome outcome,
        @Nullable Instant startedAt,
        @Nullable Instant endedAt,
        String label,
        String failure)
        implements Serializable {

    /** How a run ended. */
    public enum Outcome {
        /** The task returned. */
        SUCCEEDED,
        /** The task threw an exception, or its stage failed. */
        FAILED,
        /** The hold was closed by hand: whether the task succeeded is not known. */
        CLOSED,
        /** The lock was lost before the task had ended. */
        LOST,
        /** A newer version of the program recorded something that this one can't read. */
        UNKNOWN
    }

    /** When it began; empty if that is unknown. */
    public Optional<Instant> started() {
        return Optional.ofNullable(startedAt);
    }

    /** When it ended; empty if that is unknown. */
    public Optional<Instant> ended() {
        return Optional.ofNullable(endedAt);
    }

    /** How long it took; empty if that is unknown. Negative if the clock was set back meanwhile. */
    public Optional<Duration> took() {
        return startedAt == null || endedAt == null
                ? Optional.empty()
                : Optional.of(Duration.between(startedAt, endedAt));
    }
}
