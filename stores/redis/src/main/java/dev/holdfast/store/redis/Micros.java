package dev.holdfast.store.redis;

import java.time.Duration;
import java.time.temporal.ChronoUnit;

/** The store's grain of time. */
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
