package dev.holdfast.store.sqlite;

import dev.holdfast.store.ledger.runtime.SystemClock;
import java.time.Duration;
import java.util.concurrent.locks.LockSupport;

/**
 * How long a command waits for a busy database. SQLite has no queue of writers: they poll, and the first to poll at the
 * right moment is next. The pauses are short, so that a process that writes all the time does not starve the others.
 */
final class BusyTimeout {

    private static final long MIN_PAUSE_NANOS = 20_000;
    private static final long MAX_PAUSE_NANOS = 200_000;

    /** Once for the log and once for the database. */
    private static final int MAX_ROOM_MADE = 2;

    private final long maxWaitNanos;
    private long startNanos;
    private long pauseNanos;
    private int roomMade;
    private boolean spent;

    BusyTimeout(Duration maxWait) {
        this.maxWaitNanos = maxWait.toNanos();
    }

    /** Whether to make room on a full disk and retry: each attempt may fail at another file. */
    boolean mayMakeRoom() {
        roomMade++;
        return roomMade <= MAX_ROOM_MADE;
    }

    /** Ends it, because retries are useless. */
    void spend() {
        spent = true;
    }

    /** Whether the time is up or retries are useless. */
    boolean isSpent() {
        return spent;
    }

    /**
     * Pauses before the next attempt. An interrupt is restored afterwards.
     *
     * @throws dev.holdfast.spi.StoreException if the time is up
     */
    void pause(SqliteLane.Busy busy) {
        if (!pause()) {
            throw busy.failure();
        }
    }

    /** Pauses before the next attempt; false if the time is up. An interrupt is restored afterwards. */
    boolean pause() {
        long now = SystemClock.nanoTime();
        if (pauseNanos == 0) {
            startNanos = now;
            pauseNanos = MIN_PAUSE_NANOS;
        } else if (now - startNanos > maxWaitNanos) {
            spent = true;
            return false;
        }
        boolean interrupted = Thread.interrupted();
        LockSupport.parkNanos(pauseNanos);
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
        pauseNanos = Math.min(MAX_PAUSE_NANOS, pauseNanos + pauseNanos / 4);
        return true;
    }
}
