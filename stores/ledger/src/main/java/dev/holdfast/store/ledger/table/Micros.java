package dev.holdfast.store.ledger.table;

import java.time.Duration;
import java.time.temporal.ChronoUnit;

/** Durations as the stores count them. */
public final class Micros {

    private Micros() {}

    /** Rounded up: what is asked for never ends early. */
    public static long of(Duration duration) {
        return Math.addExact(duration.toNanos(), 999) / 1_000;
    }

    public static Duration duration(long micros) {
        return Duration.of(micros, ChronoUnit.MICROS);
    }
}
