package dev.holdfast.engine.time;

import dev.holdfast.Environment;
import java.time.Duration;

/**
 * Pauses before retries: each twice as long as the one before, up to a limit, and randomised so that clients don't
 * retry in step. Immutable.
 *
 * @param firstNanos the pause after the first failure
 * @param doublings the number of doublings
 */
public record Backoff(long firstNanos, int doublings) {

    /** The pauses before a command is sent again. */
    public static final Backoff RESEND = from(Duration.ofMillis(10), 6);

    /** Pauses that double. */
    public static Backoff from(Duration first, int doublings) {
        return new Backoff(first.toNanos(), doublings);
    }

    /** The pause after a number of earlier failures, not randomised. */
    public long nanosAfter(int failures) {
        return firstNanos << Math.min(failures, doublings);
    }

    /** The same, randomised. */
    public long pause(Environment environment, int failures) {
        return Jitter.spread(environment, nanosAfter(failures));
    }

    /** As {@link #pause(Environment, int)}, limited before it is randomised. */
    public long pauseAtMost(Environment environment, int failures, long mostNanos) {
        return Jitter.spread(environment, Math.min(mostNanos, nanosAfter(failures)));
    }

    /** Runs an action after the pause. */
    public void retry(Environment environment, int failures, Runnable attempt) {
        environment.schedule(pause(environment, failures), attempt);
    }
}
