package dev.holdfast.store.quorum.member;

import dev.holdfast.Environment;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * The event loop of a quorum, with its clock. Events run one at a time, each to its end, on the thread that posts one
 * while none is running. The state of a quorum is confined to events, so it needs no lock, and an answer that arrives
 * during another event sees no half-done work.
 *
 * <p>Thread-safe.
 */
public final class EventLoop {

    private final Queue<Runnable> events = new ConcurrentLinkedQueue<>();
    private final AtomicInteger count = new AtomicInteger();

    private final Environment environment;
    private final long origin;
    private volatile boolean isClosed;

    public EventLoop(Environment environment) {
        this.environment = environment;
        this.origin = environment.monotonicNanos();
    }

    /** Runs an event after all earlier ones, possibly before this method returns. */
    public void post(Runnable event) {
        events.add(event);
        if (count.getAndIncrement() == 0) {
            drain();
        }
    }

    private void drain() {
        do {
            Runnable event = events.poll();
            if (event != null) {
                run(event);
            }
        } while (count.decrementAndGet() > 0);
    }

    private static void run(Runnable event) {
        try {
            event.run();
        } catch (RuntimeException e) {
            // This may be a member's thread, which must not see the failure.
            Thread thread = Thread.currentThread();
            thread.getUncaughtExceptionHandler().uncaughtException(thread, e);
        }
    }

    /** Nanoseconds since this loop was created; only differences matter. */
    public long now() {
        return environment.monotonicNanos() - origin;
    }

    /** Runs an event after a delay in nanoseconds, unless the loop is closed by then. */
    public void later(long delay, Runnable event) {
        environment.schedule(
                Math.max(delay, 0),
                () -> post(() -> {
                    if (!isClosed) {
                        event.run();
                    }
                }));
    }

    /** A random number between the bounds. */
    public long between(long low, long high) {
        return low + Math.floorMod(environment.randomLong(), high - low + 1);
    }

    /** The back-off before the next attempt, after this many failures. */
    public long backOff(int failures) {
        long most = TimeUnit.MILLISECONDS.toNanos(20) << Math.min(failures, 6);
        return between(most / 2, most);
    }

    /** Drops all delayed events. */
    public void close() {
        isClosed = true;
    }

    public boolean isClosed() {
        return isClosed;
    }
}
