package dev.holdfast.store.ledger.runtime;

import java.time.Instant;

/** The clocks of this process: the one place where the stores on SQL read them. */
public final class SystemTime {

    private SystemTime() {}

    /** The monotonic clock, for measuring how long something takes in this process. */
    public static long nanoTime() {
        return System.nanoTime();
    }

    /** The time of day in microseconds since 1970; it steps when somebody sets it. */
    public static long unixMicros() {
        Instant now = Instant.now();
        return now.getEpochSecond() * 1_000_000 + now.getNano() / 1_000;
    }
}
