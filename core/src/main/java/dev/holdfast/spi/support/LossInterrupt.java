package dev.holdfast.spi.support;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Interrupts a thread when the lock is lost that its work runs under; the interrupt never outlives that work.
 *
 * <p>Interrupts nest, as the work of a thread does. The end of one work clears the thread's flag only if a loss has set
 * it, and sets it again if a work around it has lost its lock, too, and has not noticed: otherwise the inner work would
 * take the only notice that the outer one gets. A thread that begins work or passes on an {@link InterruptedException}
 * without the flag has noticed what was lost before. An interrupt by anyone else that comes first is left alone. One
 * that comes later can't be told from the one that is pending.
 *
 * <p>Thread-safe; {@link #begin}, {@link #end} and {@link #passOn} are called by the thread that works.
 */
public final class LossInterrupt {

    private static final ThreadLocal<Worker> WORKERS = ThreadLocal.withInitial(Worker::new);

    private final Worker worker;

    /** Whether the lock was lost, and the thread is not known to have noticed. Guarded by the lock of the worker. */
    private boolean isOwed;

    /** A thread that works under locks, and what it works on. */
    private static final class Worker {
        private final Thread thread = Thread.currentThread();
        private final ReentrantLock lock = new ReentrantLock();

        @GuardedBy("lock")
        private final List<LossInterrupt> begun = new ArrayList<>();

        /** Whether it was a loss that set the flag of the thread, if that is set. */
        @GuardedBy("lock")
        private boolean isFlaggedByLoss;

        @GuardedBy("lock")
        private void interrupt() {
            // A flag that is set will do, and calling again could reach what the thread does once it has cleared that.
            if (!thread.isInterrupted()) {
                isFlaggedByLoss = true;
                thread.interrupt();
            }
        }

        @GuardedBy("lock")
        private void clearFlagOfLoss() {
            if (isFlaggedByLoss) {
                isFlaggedByLoss = false;
                boolean unused = Thread.interrupted();
            }
        }

        @GuardedBy("lock")
        private void noteNoticed() {
            begun.forEach(interrupt -> interrupt.isOwed = false);
        }
    }

    private LossInterrupt(Worker worker) {
        this.worker = worker;
    }

    /** The calling thread begins work under a lock. */
    public static LossInterrupt begin() {
        Worker worker = WORKERS.get();
        LossInterrupt interrupt = new LossInterrupt(worker);
        worker.lock.lock();
        try {
            if (!worker.thread.isInterrupted()) {
                worker.isFlaggedByLoss = false;
                worker.noteNoticed();
            }
            worker.begun.add(interrupt);
        } finally {
            worker.lock.unlock();
        }
        return interrupt;
    }

    /** The lock is lost: interrupts the thread, unless the work has ended. Called by any thread. */
    public void fire() {
        worker.lock.lock();
        try {
            if (worker.begun.contains(this)) {
                isOwed = true;
                worker.interrupt();
            }
        } finally {
            worker.lock.unlock();
        }
    }

    /** Whether it is the calling thread that would be interrupted. */
    public boolean isOfCaller() {
        return worker.thread == Thread.currentThread();
    }

    /** The work is done, or knows that it is to end. Does nothing if that is known. */
    public void end() {
        worker.lock.lock();
        try {
            if (!worker.begun.remove(this)) {
                return;
            }
            if (isOwed) {
                worker.clearFlagOfLoss();
            }
            if (worker.begun.stream().anyMatch(other -> other.isOwed)) {
                worker.interrupt();
            } else if (worker.begun.isEmpty()) {
                WORKERS.remove();
            }
        } finally {
            worker.lock.unlock();
        }
    }

    /**
     * Passes on an {@link InterruptedException} of work that has ended to the work around it, which needs no flag
     * besides.
     */
    public void passOn() {
        worker.lock.lock();
        try {
            worker.noteNoticed();
            worker.clearFlagOfLoss();
        } finally {
            worker.lock.unlock();
        }
    }
}
