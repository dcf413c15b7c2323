package dev.holdfast.servers;

import java.time.Duration;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

/** Waits for a state of a server, by polling. */
final class Until {

    static final Duration DEADLINE = Duration.ofSeconds(60);
    private static final long PAUSE_NANOS = 5_000_000;

    private Until() {}

    /**
     * Waits.
     *
     * @throws IllegalStateException if it is not so within {@link #DEADLINE}
     */
    static void await(String what, BooleanSupplier condition) {
        long start = System.nanoTime();
        while (!condition.getAsBoolean()) {
            if (System.nanoTime() - start > DEADLINE.toNanos()) {
                throw new IllegalStateException("After " + DEADLINE + " it is still not so that " + what);
            }
            LockSupport.parkNanos(PAUSE_NANOS);
        }
    }
}
