package dev.holdfast.store.sqlite;

import dev.holdfast.store.ledger.runtime.SystemClock;
import java.util.concurrent.locks.LockSupport;

/**
 * Makes a busy writer pause in favour of other processes. Between two batches in quick succession the database is free
 * for only a few microseconds, and others would rarely poll just then. So a process that writes continuously pauses
 * briefly from time to time.
 *
 * <p>Not thread-safe.
 */
final class WriterYield {

    /** Shorter gaps do not count as a pause. */
    private static final long BREAK_NANOS = 150_000;

    private static final long WORK_NANOS = 10_000_000;

    private long beganNanos;
    private long endedNanos;

    /** Called before a batch. An interrupt is restored afterwards. */
    void begin() {
        long now = SystemClock.nanoTime();
        if (now - endedNanos > BREAK_NANOS) {
            beganNanos = now;
        } else if (now - beganNanos > WORK_NANOS) {
            boolean interrupted = Thread.interrupted();
            LockSupport.parkNanos(BREAK_NANOS);
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
            beganNanos = SystemClock.nanoTime();
        }
    }

    /** Called after a batch. */
    void end() {
        endedNanos = SystemClock.nanoTime();
    }
}
