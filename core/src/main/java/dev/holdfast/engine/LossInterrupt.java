package dev.holdfast.engine;

import dev.holdfast.Loss;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;

/**
 * Interrupts a thread when its hold is lost, unless its work is done by then; its interrupt never outlives the work.
 */
final class LossInterrupt implements Consumer<Loss> {

    private final Thread worker;
    private final ReentrantLock lock = new ReentrantLock();

    // Guarded by lock.
    private boolean isDisarmed;
    private boolean hasFired;

    LossInterrupt(Thread worker) {
        this.worker = worker;
    }

    @Override
    public void accept(Loss loss) {
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

    /** The work is done. Called by the worker. */
    void disarm() {
        lock.lock();
        try {
            isDisarmed = true;
            if (hasFired) {
                // Ours, or merged with ours: two interrupts can't be told apart.
                Thread.interrupted();
            }
        } finally {
            lock.unlock();
        }
    }
}
