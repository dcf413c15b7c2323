package dev.holdfast.engine.time;

import dev.holdfast.Environment;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * The pauses between polls for what is not pushed: an eighth of the wait so far, so that the wait is at most that much
 * too long, and limited. Thread-safe; one pause at a time.
 */
public final class PollBackoff {

    private static final long SHORTEST_NANOS = TimeUnit.MILLISECONDS.toNanos(5);
    private static final long LONGEST_NANOS = TimeUnit.MILLISECONDS.toNanos(250);

    private final Environment environment;
    private final long startedAt;

    /** The action after the current pause. */
    private final AtomicReference<@Nullable Runnable> next = new AtomicReference<>();

    public PollBackoff(Environment environment) {
        this.environment = environment;
        this.startedAt = environment.monotonicNanos();
    }

    /** Runs an action after a pause of at most a time. */
    public void later(long mostNanos, Runnable action) {
        long waited = environment.monotonicNanos() - startedAt;
        long pause = Math.max(SHORTEST_NANOS, Math.min(LONGEST_NANOS, waited / 8));
        next.set(action);
        environment.schedule(Math.min(Jitter.spread(environment, pause), mostNanos), () -> resume(action));
    }

    /** Ends the current pause, if there is one. */
    public void interrupt() {
        Runnable action = next.getAndSet(null);
        if (action != null) {
            action.run();
        }
    }

    private void resume(Runnable action) {
        if (next.compareAndSet(action, null)) {
            action.run();
        }
    }
}
