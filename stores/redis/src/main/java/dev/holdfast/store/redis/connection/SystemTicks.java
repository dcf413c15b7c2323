package dev.holdfast.store.redis.connection;

import java.util.function.LongSupplier;

/**
 * The time of this process, in nanoseconds from some beginning: for how long to wait for an answer or a command, and
 * for nothing else.
 */
public final class SystemTicks implements LongSupplier {

    @Override
    public long getAsLong() {
        return System.nanoTime();
    }
}
