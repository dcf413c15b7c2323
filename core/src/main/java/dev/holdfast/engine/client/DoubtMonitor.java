package dev.holdfast.engine.client;

import dev.holdfast.engine.execution.Trampoline;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/** Lets threads wait for events of holds in doubt. Thread-safe. */
public final class DoubtMonitor {
    /** The longest wait between two checks of the clock: no event announces a deadline. */
    private static final long MAX_WAIT_NANOS = TimeUnit.MILLISECONDS.toNanos(50);

    private final ReentrantLock lock = new ReentrantLock();
    private final Condition changed = lock.newCondition();
    /** The number of events. Written under the lock. */
    private volatile long news;

    /** Wakes all waiters: a hold may no longer be in doubt. */
    @SuppressWarnings("NonAtomicVolatileUpdate") // under the lock
    public void signalNews() {
        lock.lock();
        try {
            news = news + 1;
            changed.signalAll();
        } finally {
            lock.unlock();
        }
    }

    /** The number of events. */
    public long news() {
        return news;
    }

    /** Waits for the next event after a number of them, or for a while, since deadlines pass without an event. */
    public void awaitNews(long seen, long mostNanos) throws InterruptedException {
        Trampoline.flush();
        lock.lock();
        try {
            long left = Math.min(mostNanos, MAX_WAIT_NANOS);
            while (news == seen && left > 0) {
                left = changed.awaitNanos(left);
            }
        } finally {
            lock.unlock();
        }
    }
}
