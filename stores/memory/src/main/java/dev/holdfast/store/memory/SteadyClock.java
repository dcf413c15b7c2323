package dev.holdfast.store.memory;

import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.function.LongSupplier;

/**
 * A clock in microseconds since 1970 that starts at the system's time and then follows the monotonic clock. So no lease
 * ends early or late when the system's time is changed; the store ends with the process, so no other process sees the
 * difference.
 */
final class SteadyClock implements LongSupplier {

    private final long startMicros = ChronoUnit.MICROS.between(Instant.EPOCH, Instant.now());
    private final long startNanos = System.nanoTime();

    @Override
    public long getAsLong() {
        return startMicros + (System.nanoTime() - startNanos) / 1_000;
    }
}
