package dev.holdfast.engine.time;

import dev.holdfast.Environment;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * When to look again for what nobody pushes: after an eighth of the time that was waited so far, so that the wait is at
 * most that much longer than need be, and soon in any case. Thread-safe; one pause at a time.
 */
public final class PollBackoff {

    private static final long SHORTEST_NANOS = TimeUnit.MILLISECONDS.toNanos(5);
    private static final long LONGEST_NANOS = TimeUnit.MILLISECONDS.toNanos(250);

    private final Environment environment;
    private final long startedAt;

    /** What follows the pause that is under way. */
    private final AtomicReference<@Nullable Runnable> next = new AtomicReference<>();

    public PollBackoff(Environment environment) {
        this.environment = environment;
        this.startedAt = environment.monotonicNanos();
    }

    /** Goes on after a pause, at most a time. */
    public void later(long mostNanos, Runnable look) {
        long waited = environment.monotonicNanos() - startedAt;
        long pause = Math.max(SHORTEST_NANOS, Math.min(LONGEST_NANOS, waited / 8));
        next.set(look);
        environment.schedule(Math.min(Jitter.spread(environment, pause), mostNanos), () -> goOn(look));
    }

    /** Goes on now, if there is a pause. */
    public void interrupt() {
        Runnable look = next.getAndSet(null);
        if (look != null) {
            look.run();
        }
    }

    private void goOn(Runnable look) {
        if (next.compareAndSet(look, null)) {
            look.run();
        }
    }
}
