package dev.holdfast.store.sqlite;

import dev.holdfast.store.ledger.runtime.SystemTime;
import java.time.Duration;
import java.util.concurrent.locks.LockSupport;

/**
 * Time that a trip waits for a busy database. SQLite wakes nobody: writers poll, and whoever polls in the right moment
 * is next. The pauses are short, so that a process which writes all the time doesn't starve the others.
 */
final class BusyTimeout {

    private static final long MIN_PAUSE_NANOS = 20_000;
    private static final long MAX_PAUSE_NANOS = 200_000;

    /** Once for the log, and once for the database. */
    private static final int MAX_ROOM_MADE = 2;

    private final long maxWaitNanos;
    private long startNanos;
    private long pauseNanos;
    private int roomMade;
    private boolean spent;

    BusyTimeout(Duration maxWait) {
        this.maxWaitNanos = maxWait.toNanos();
    }

    /** Whether to make room on a full disk and try again: each time may find another thing in the way. */
    boolean mayMakeRoom() {
        roomMade++;
        return roomMade <= MAX_ROOM_MADE;
    }

    /** Uses it up: no further try makes sense. */
    void spend() {
        spent = true;
    }

    /** Whether it is used up. */
    boolean isSpent() {
        return spent;
    }

    /**
     * Waits a little before the next try. An interrupt is kept for later.
     *
     * @throws dev.holdfast.spi.StoreException if there is to be none
     */
    void pause(Lane.Busy busy) {
        if (!pause()) {
            throw busy.failure();
        }
    }

    /** Waits a little before the next try; false if there is to be none. An interrupt is kept for later. */
    boolean pause() {
        long now = SystemTime.nanoTime();
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
