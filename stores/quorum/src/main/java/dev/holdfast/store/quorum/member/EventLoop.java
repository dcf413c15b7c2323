package dev.holdfast.store.quorum.member;

import dev.holdfast.Environment;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Event loop of a quorum, with its time. Events run one after the other, each to its end, on the thread that brings one
 * while none runs: the state of a quorum is touched
 * by events alone, so it needs no lock, and an answer that comes while another event runs finds no half-done work.
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

    /** Runs an event after those that came before it, maybe before this returns. */
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
            // Whoever brought it may be the thread of a member, which has nothing to do with it.
            Thread thread = Thread.currentThread();
            thread.getUncaughtExceptionHandler().uncaughtException(thread, e);
        }
    }

    /** Nanoseconds since this loop was made; differences only. */
    public long now() {
        return environment.monotonicNanos() - origin;
    }

    /** Runs an event after so many nanoseconds, unless the loop is closed by then. */
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

    /** How long to wait before the next attempt, after so many that failed. */
    public long backOff(int failures) {
        long most = TimeUnit.MILLISECONDS.toNanos(20) << Math.min(failures, 6);
        return between(most / 2, most);
    }

    /** Runs no event any more that is due later. */
    public void close() {
        isClosed = true;
    }

    public boolean isClosed() {
        return isClosed;
    }
}
