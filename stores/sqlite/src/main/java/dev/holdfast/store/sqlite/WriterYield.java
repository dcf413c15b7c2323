package dev.holdfast.store.sqlite;

import dev.holdfast.store.ledger.runtime.SystemTime;
import java.util.concurrent.locks.LockSupport;

/**
 * Pause of a busy writer in favour of other processes. Between two trips in quick succession the database is free for
 * some microseconds only, and others would hardly ever poll just then; so a process that writes without a break makes a
 * short one from time to time.
 *
 * <p>Not thread-safe.
 */
final class WriterYield {

    /** What is shorter is no break. */
    private static final long BREAK_NANOS = 150_000;

    private static final long WORK_NANOS = 10_000_000;

    private long beganNanos;
    private long endedNanos;

    /** Called before a trip. An interrupt is kept for later. */
    void begin() {
        long now = SystemTime.nanoTime();
        if (now - endedNanos > BREAK_NANOS) {
            beganNanos = now;
        } else if (now - beganNanos > WORK_NANOS) {
            boolean interrupted = Thread.interrupted();
            LockSupport.parkNanos(BREAK_NANOS);
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
            beganNanos = SystemTime.nanoTime();
        }
    }

    /** Called after a trip. */
    void end() {
        endedNanos = SystemTime.nanoTime();
    }
}
