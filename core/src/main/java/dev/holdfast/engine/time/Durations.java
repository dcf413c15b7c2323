package dev.holdfast.engine.time;

import dev.holdfast.spi.Command;
import dev.holdfast.spi.support.DurationFormat;
import java.time.Duration;

/** Checks durations of users. */
public final class Durations {

    /** The shortest lease: the margin would use up most of a shorter one. */
    public static final Duration MIN_LEASE = Duration.ofMillis(200);

    private Durations() {}

    public static Duration lease(String what, Duration lease) {
        if (lease.compareTo(MIN_LEASE) < 0 || lease.compareTo(Command.MAX_DURATION) > 0) {
            throw new IllegalArgumentException(what + " must be " + DurationFormat.format(MIN_LEASE) + " to "
                    + DurationFormat.format(Command.MAX_DURATION) + ", but was " + DurationFormat.format(lease));
        }
        return lease;
    }

    public static Duration positive(String what, Duration duration) {
        if (duration.isNegative() || duration.isZero() || duration.compareTo(Command.MAX_DURATION) > 0) {
            throw new IllegalArgumentException(what + " must be longer than zero and at most "
                    + DurationFormat.format(Command.MAX_DURATION) + ", but was " + DurationFormat.format(duration));
        }
        return duration;
    }
}
