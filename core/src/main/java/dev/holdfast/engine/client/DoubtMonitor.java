package dev.holdfast.engine.client;

import dev.holdfast.engine.execution.Trampoline;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/** Lets threads wait for news of holds that are in doubt. Thread-safe. */
public final class DoubtMonitor {
    /** The longest wait between two looks at the clock: a deadline passes without news. */
    private static final long MAX_WAIT_NANOS = TimeUnit.MILLISECONDS.toNanos(50);

    private final ReentrantLock lock = new ReentrantLock();
    private final Condition changed = lock.newCondition();
    /** How often there was news. Written under the lock. */
    private volatile long news;

    /** Wakes all waiters: a doubt may be over. */
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

    /** How often there was news. */
    public long news() {
        return news;
    }

    /** Waits for more news than were seen, or for a while: that a deadline passes is no news. */
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
