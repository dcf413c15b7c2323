package dev.holdfast.engine;

import dev.holdfast.Loss;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/** Lets threads wait until a hold that is in doubt is known to be good or lost. Thread-safe. */
final class Certainty {

    /** The longest wait between two looks at the clock: a deadline passes without news. */
    private static final long MAX_WAIT_NANOS = TimeUnit.MILLISECONDS.toNanos(50);

    private final Engine engine;
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition news = lock.newCondition();

    /** How often there was news. Written under the lock. */
    private volatile long told;

    Certainty(Engine engine) {
        this.engine = engine;
    }

    /** A doubt may be over. */
    @SuppressWarnings("NonAtomicVolatileUpdate") // under the lock
    void tell() {
        lock.lock();
        try {
            told = told + 1;
            news.signalAll();
        } finally {
            lock.unlock();
        }
    }

    /** Waits until a hold is good, or throws that it is lost or closed. */
    void await(LocalHold hold) throws InterruptedException {
        for (long seen = told; !hold.isLive(); seen = told) {
            engine.lookAt(hold.grant);
            if (hold.loss() != null) {
                throw hold.lostException(Loss.Cause.EXPIRED);
            }
            if (hold.isOver()) {
                throw new IllegalStateException("The hold on '" + hold.gate.name + "' was closed");
            }
            engine.doubt(hold.grant);
            awaitNews(seen, hold.liveFor().toNanos());
        }
    }

    /** As {@link #await}; an interrupt does not end the wait, and stays pending. */
    void awaitUninterruptibly(LocalHold hold) {
        boolean wasInterrupted = false;
        try {
            while (true) {
                try {
                    await(hold);
                    return;
                } catch (InterruptedException e) {
                    wasInterrupted = true;
                }
            }
        } finally {
            if (wasInterrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    /** How often there was news. */
    long told() {
        return told;
    }

    /** Waits for more news than were seen, or for a while: that a deadline passes is no news. */
    void awaitNews(long seen, long mostNanos) throws InterruptedException {
        Trampoline.flush();
        lock.lock();
        try {
            long left = Math.min(mostNanos, MAX_WAIT_NANOS);
            while (told == seen && left > 0) {
                left = news.awaitNanos(left);
            }
        } finally {
            lock.unlock();
        }
    }
}
