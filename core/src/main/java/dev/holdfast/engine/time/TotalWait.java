package dev.holdfast.engine.time;

import dev.holdfast.AcquireOptions;
import dev.holdfast.Environment;
import dev.holdfast.spi.support.DurationFormat;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

/**
 * The one maximum wait of a call that waits several times. Immutable.
 *
 * @param most the maximum wait; empty for none
 * @param deadline its end by the monotonic clock; meaningless without a maximum
 */
public record TotalWait(Environment environment, Optional<Duration> most, long deadline) {

    /** Longer waits are without limit; half of the range of a nanosecond clock, so that subtraction compares times. */
    public static final long FOREVER = Long.MAX_VALUE / 2;

    /**
     * How much longer than its maximum a wait lasts for the reply to a request that is under way, if the store time-out
     * has passed by then. Less than the second that the contract allows, so that a thread may be woken late.
     */
    public static final long OVERTIME_NANOS = TimeUnit.MILLISECONDS.toNanos(750);

    /**
     * Begins to wait.
     *
     * @throws IllegalArgumentException if the maximum is negative
     */
    public static TotalWait begin(Environment environment, Optional<Duration> most) {
        Optional<Duration> finite = most.filter(wait -> nanos(wait) < FOREVER);
        return new TotalWait(
                environment,
                finite,
                environment.monotonicNanos() + finite.map(Duration::toNanos).orElse(0L));
    }

    public boolean isOver() {
        return most.isPresent() && deadline - environment.monotonicNanos() <= 0;
    }

    /** Whether the call has its own time limit; a try without a wait has only the store time-out. */
    private boolean isTimed() {
        return most.isPresent() && !most.get().isZero();
    }

    /** How long the call may still wait, after its wait, for what only its exception needs; at most a time. */
    public long leftForAnswers(long atMost) {
        return isTimed()
                ? Math.min(atMost, Math.max(0, deadline + OVERTIME_NANOS - environment.monotonicNanos()))
                : atMost;
    }

    /** The time left, at most a time. */
    public long leftNanos(long atMost) {
        return most.isEmpty() ? atMost : Math.min(atMost, Math.max(0, deadline - environment.monotonicNanos()));
    }

    /** The options of one of the waits. */
    public AcquireOptions within(AcquireOptions options) {
        return most.isEmpty() ? options : options.withMaxWait(atLeastAMoment(leftNanos(Long.MAX_VALUE)));
    }

    /** The options of a check whether something is free now. */
    public AcquireOptions atOnce(AcquireOptions options) {
        return options.withMaxWait(atLeastAMoment(0));
    }

    /** A call with its own time limit is not a try, even if hardly any time is left. */
    private Duration atLeastAMoment(long nanos) {
        return isTimed() ? Duration.ofNanos(Math.max(1, nanos)) : Duration.ofNanos(nanos);
    }

    /**
     * A maximum wait in nanoseconds, at most {@link #FOREVER}.
     *
     * @throws IllegalArgumentException if it is negative
     */
    public static long nanos(Duration wait) {
        if (wait.isNegative()) {
            throw new IllegalArgumentException("maxWait must not be negative, but was " + DurationFormat.format(wait));
        }
        return wait.toSeconds() >= FOREVER / 1_000_000_000 ? FOREVER : wait.toNanos();
    }
}
