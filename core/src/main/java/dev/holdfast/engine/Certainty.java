package dev.holdfast.engine;

import dev.holdfast.Loss;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/** Lets threads wait until a hold that is in doubt is known to be good or lost. Thread-safe. */
final class Certainty {

    /** The longest wait between two looks: an answer may have come just before the wait began. */
    private static final long MAX_WAIT_NANOS = TimeUnit.MILLISECONDS.toNanos(50);

    private final Engine engine;
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition news = lock.newCondition();

    Certainty(Engine engine) {
        this.engine = engine;
    }

    /** A doubt may be over. */
    void tell() {
        lock.lock();
        try {
            news.signalAll();
        } finally {
            lock.unlock();
        }
    }

    /** Waits until a hold is good, or throws that it is lost or closed. An interrupt ends the wait and stays pending. */
    void await(LocalHold hold) {
        while (!hold.isLive()) {
            engine.lookAt(hold.grant);
            if (hold.loss() != null) {
                throw engine.failures.lost(hold, Loss.Cause.EXPIRED);
            }
            if (hold.gate.current != hold) {
                throw new IllegalStateException("The hold on '" + hold.name() + "' was closed");
            }
            engine.doubt(hold.grant);
            lock.lock();
            try {
                if (!hold.isLive()) {
                    long left = Math.max(hold.liveFor().toNanos(), 1);
                    var unused = news.awaitNanos(Math.min(left, MAX_WAIT_NANOS));
                }
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw engine.failures.lost(hold, Loss.Cause.EXPIRED);
            } finally {
                lock.unlock();
            }
        }
    }
}
