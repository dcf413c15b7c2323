package dev.holdfast.store.quorum;

import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Runs events one after the other, each to its end, on whatever thread brings one: the state of a quorum is touched
 * by events alone, so it needs no lock, and an answer that comes while another event runs finds no half-done work.
 *
 * <p>Thread-safe.
 */
final class Loop {

    private final Queue<Runnable> events = new ConcurrentLinkedQueue<>();
    private final AtomicInteger count = new AtomicInteger();

    /** Runs an event after those that came before it, maybe before this returns. */
    void post(Runnable event) {
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
}
