package dev.holdfast.store.sql;

import java.time.Duration;
import java.time.temporal.ChronoUnit;

/** Durations as the stores count them. */
final class Micros {

    private Micros() {}

    /** Rounded up: what is asked for never ends early. */
    static long of(Duration duration) {
        return Math.addExact(duration.toNanos(), 999) / 1_000;
    }

    static Duration duration(long micros) {
        return Duration.of(micros, ChronoUnit.MICROS);
    }
}
