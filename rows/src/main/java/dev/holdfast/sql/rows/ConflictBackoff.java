package dev.holdfast.sql.rows;

import dev.holdfast.spi.support.Randomness;
import java.time.Duration;
import java.util.concurrent.locks.LockSupport;

/**
 * Pauses between attempts: random, below a limit that doubles up to a maximum (full jitter), so that transactions that
 * conflicted do not conflict again.
 */
final class ConflictBackoff {

    private static final long FIRST_NANOS = Duration.ofMillis(2).toNanos();
    private static final long LONGEST_NANOS = Duration.ofMillis(250).toNanos();

    private ConflictBackoff() {}

    /**
     * Pauses after the attempt with this number; may return early.
     *
     * @return false, with the flag still set, if the thread is interrupted
     */
    static boolean pause(int attempt) {
        long bound = Math.min(LONGEST_NANOS, FIRST_NANOS << Math.min(attempt - 1, 30));
        LockSupport.parkNanos(Math.floorMod(Randomness.nextLong(), bound));
        return !Thread.currentThread().isInterrupted();
    }
}
