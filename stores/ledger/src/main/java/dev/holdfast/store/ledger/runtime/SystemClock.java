package dev.holdfast.store.ledger.runtime;

import java.time.Instant;

/** The clocks of this process, and the only place where SQL stores read them. */
public final class SystemClock {

    private SystemClock() {}

    /** The monotonic clock, for measuring durations in this process. */
    public static long nanoTime() {
        return System.nanoTime();
    }

    /** The time of day in microseconds since 1970; it jumps when the clock is set. */
    public static long unixMicros() {
        Instant now = Instant.now();
        return now.getEpochSecond() * 1_000_000 + now.getNano() / 1_000;
    }
}
