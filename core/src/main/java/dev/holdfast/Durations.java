package dev.holdfast;

import dev.holdfast.spi.Command;
import java.time.Duration;

/** The checks on durations that come from users. */
final class Durations {

    /** The shortest lease: below it the margin would eat most of it. */
    static final Duration MIN_LEASE = Duration.ofMillis(200);

    private Durations() {}

    static Duration lease(String what, Duration lease) {
        if (lease.compareTo(MIN_LEASE) < 0 || lease.compareTo(Command.MAX_DURATION) > 0) {
            throw new IllegalArgumentException(
                    what + " must be " + MIN_LEASE + " to " + Command.MAX_DURATION + ", but was " + lease);
        }
        return lease;
    }

    static Duration positive(String what, Duration duration) {
        if (duration.isNegative() || duration.isZero() || duration.compareTo(Command.MAX_DURATION) > 0) {
            throw new IllegalArgumentException(
                    what + " must be longer than zero and at most " + Command.MAX_DURATION + ", but was " + duration);
        }
        return duration;
    }
}
