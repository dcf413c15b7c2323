package dev.holdfast.spring.execution;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Interrupts a thread when its locks are lost, unless its work is done by then; the interrupt never outlives the work.
 */
final class LossInterrupt {

    private final Thread worker = Thread.currentThread();
    private final ReentrantLock lock = new ReentrantLock();

    @GuardedBy("lock")
    private boolean isDisarmed;

    @GuardedBy("lock")
    private boolean hasFired;

    void fire() {
        lock.lock();
        try {
            if (!isDisarmed) {
                hasFired = true;
                worker.interrupt();
            }
        } finally {
            lock.unlock();
        }
    }

    /** Called by the worker when its work is done. */
    void disarm() {
        lock.lock();
        try {
            isDisarmed = true;
            if (hasFired) {
                // Ours, or merged with ours: two interrupts can't be told apart.
                boolean unused = Thread.interrupted();
            }
        } finally {
            lock.unlock();
        }
    }
}
