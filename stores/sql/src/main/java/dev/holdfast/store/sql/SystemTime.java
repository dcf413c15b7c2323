package dev.holdfast.store.sql;

import java.time.Instant;

/** The clocks of this process: the one place where the stores on SQL read them. */
final class SystemTime {

    private SystemTime() {}

    /** The monotonic clock, for measuring how long something takes in this process. */
    static long nanoTime() {
        return System.nanoTime();
    }

    /** The time of day in microseconds since 1970; it steps when somebody sets it. */
    static long unixMicros() {
        Instant now = Instant.now();
        return now.getEpochSecond() * 1_000_000 + now.getNano() / 1_000;
    }
}
