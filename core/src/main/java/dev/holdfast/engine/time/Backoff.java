package dev.holdfast.engine.time;

import dev.holdfast.Environment;
import java.time.Duration;

/**
 * Pauses before another attempt: each twice as long as the one before, up to a limit, and spread so that clients don't
 * move in step. Immutable.
 *
 * @param firstNanos the pause after the first failure
 * @param doublings how often it doubles
 */
public record Backoff(long firstNanos, int doublings) {

    /** Pauses that double. */
    public static Backoff from(Duration first, int doublings) {
        return new Backoff(first.toNanos(), doublings);
    }

    /** Pauses of one length. */
    public static Backoff every(Duration pause) {
        return from(pause, 0);
    }

    /** The pause after so many failures before the present one, not spread. */
    public long nanosAfter(int failures) {
        return firstNanos << Math.min(failures, doublings);
    }

    /** The same, spread. */
    public long pause(Environment environment, int failures) {
        return Jitter.spread(environment, nanosAfter(failures));
    }

    /** Runs something after the pause. */
    public void retry(Environment environment, int failures, Runnable attempt) {
        environment.schedule(pause(environment, failures), attempt);
    }
}
