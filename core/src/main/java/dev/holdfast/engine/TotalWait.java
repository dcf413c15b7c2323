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

    /**
     * Begins to wait.
     *
     * @throws IllegalArgumentException if the maximum is negative
     */
    static TotalWait begin(Environment environment, Optional<Duration> most) {
        Optional<Duration> finite = most.filter(wait -> Door.nanos(wait) < Door.FOREVER);
        return new TotalWait(
                environment,
                finite,
                environment.monotonicNanos() + finite.map(Duration::toNanos).orElse(0L));
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
