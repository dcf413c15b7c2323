package dev.holdfast.store.register.machine;

import java.time.Duration;
import java.time.temporal.ChronoUnit;

/** Durations in microseconds, as records keep them. */
final class Micros {

    private Micros() {}

    static Duration duration(long micros) {
        return Duration.of(micros, ChronoUnit.MICROS);
    }

    /** Rounded up: what is asked for never ends early. */
    static long roundedUp(Duration duration) {
        return Math.addExact(duration.toNanos(), 999) / 1_000;
    }
}
