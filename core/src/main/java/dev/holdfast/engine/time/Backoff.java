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

    /** The pauses before a command to a store is sent again. */
    public static final Backoff RESEND = from(Duration.ofMillis(10), 6);

    /** Pauses that double. */
    public static Backoff from(Duration first, int doublings) {
        return new Backoff(first.toNanos(), doublings);
    }

    /** The pause after so many failures before the present one, not spread. */
    public long nanosAfter(int failures) {
        return firstNanos << Math.min(failures, doublings);
    }

    /** The same, spread. */
    public long pause(Environment environment, int failures) {
        return Jitter.spread(environment, nanosAfter(failures));
    }

    /** As {@link #pause(Environment, int)}, from a pause that is never longer than a limit before it is spread. */
    public long pauseAtMost(Environment environment, int failures, long mostNanos) {
        return Jitter.spread(environment, Math.min(mostNanos, nanosAfter(failures)));
    }

    /** Runs something after the pause. */
    public void retry(Environment environment, int failures, Runnable attempt) {
        environment.schedule(pause(environment, failures), attempt);
    }
}
