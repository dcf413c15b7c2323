package dev.holdfast.store.memory;

import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.function.LongSupplier;

/**
 * The system's time as it was when this clock was made, in microseconds since 1970, going on steadily from there. The
 * store lives no longer than the process, so nobody can tell if the system's time is changed meanwhile, and no lease
 * ends early or late because of that.
 */
final class SteadyClock implements LongSupplier {

    private final long startMicros = ChronoUnit.MICROS.between(Instant.EPOCH, Instant.now());
    private final long startNanos = System.nanoTime();

    @Override
    public long getAsLong() {
        return startMicros + (System.nanoTime() - startNanos) / 1_000;
    }
}
