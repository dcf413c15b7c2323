package dev.holdfast.engine;

import dev.holdfast.AcquireOptions;
import dev.holdfast.Environment;
import java.time.Duration;
import java.util.Optional;

/**
 * The one maximum wait of a call that waits several times. Immutable.
 *
 * @param most the maximum wait; empty for as long as it takes
 * @param deadline when it is over, by the monotonic clock; meaningless for as long as it takes
 */
record TotalWait(Environment environment, Optional<Duration> most, long deadline) {

    /** Longer waits are for ever, so that deadlines can be compared by subtraction. */
    private static final Duration FOREVER = Duration.ofNanos(Long.MAX_VALUE / 2);

    /**
     * Begins to wait.
     *
     * @throws IllegalArgumentException if the maximum is negative
     */
    static TotalWait begin(Environment environment, Optional<Duration> most) {
        if (most.isPresent() && most.get().isNegative()) {
            throw new IllegalArgumentException("maxWait must not be negative, but was " + most.get());
        }
        Optional<Duration> finite = most.filter(wait -> wait.compareTo(FOREVER) < 0);
        return new TotalWait(
                environment,
                finite,
                environment.monotonicNanos() + finite.map(Duration::toNanos).orElse(0L));
    }

    /** Whether nothing is waited for at all. */
    boolean isNone() {
        return most.isPresent() && most.get().isZero();
    }

    boolean isOver() {
        return most.isPresent() && deadline - environment.monotonicNanos() <= 0;
    }

    /** What is left, at most a time. */
    long leftNanos(long atMost) {
        return most.isEmpty() ? atMost : Math.min(atMost, Math.max(0, deadline - environment.monotonicNanos()));
    }

    /** The options of one of the waits. */
    AcquireOptions within(AcquireOptions options) {
        return most.isEmpty() ? options : options.withMaxWait(Duration.ofNanos(leftNanos(Long.MAX_VALUE)));
    }
}
