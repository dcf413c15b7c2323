package dev.holdfast.store.redis.connection;

import java.util.function.LongSupplier;

/** Monotonic time in nanoseconds, for waiting for a reply or a command and nothing else. */
public final class SystemTicks implements LongSupplier {

    @Override
    public long getAsLong() {
        return System.nanoTime();
    }
}
