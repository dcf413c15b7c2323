package dev.holdfast.spi.support;

import java.time.Duration;
import java.time.temporal.ChronoUnit;

/** Converts durations to and from microseconds, the unit in which stores keep time. */
public final class Micros {

    private Micros() {}

    /**
     * A duration in microseconds, rounded up, so that no lease ends early.
     *
     * @throws ArithmeticException if it does not fit, from about 292 years on
     */
    public static long of(Duration duration) {
        return Math.addExact(duration.toNanos(), 999) / 1_000;
    }

    /** The duration of a number of microseconds. */
    public static Duration duration(long micros) {
        return Duration.of(micros, ChronoUnit.MICROS);
    }
}
