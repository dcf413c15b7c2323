package dev.holdfast.spi.support;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Interrupts a thread when it loses the lock under which it runs a task; the interrupt never outlives the task.
 *
 * <p>Interrupts nest like the tasks of a thread. The end of a task clears the thread's flag only if a loss has set it,
 * and sets it again if an outer task has lost its lock too and has not noticed: otherwise the inner task would consume
 * the outer one's only notification. A thread that begins a task or passes on an {@link InterruptedException} without
 * the flag has noticed earlier losses. An earlier interrupt by others is kept. A later one can't be distinguished from
 * the pending one.
 *
 * <p>Thread-safe; {@link #begin}, {@link #end} and {@link #passOn} are called by the thread that runs the task.
 */
public final class LossInterrupt {

    private static final ThreadLocal<Worker> WORKERS = ThreadLocal.withInitial(Worker::new);

    private final Worker worker;

    /** Whether the lock was lost, and the thread is not known to have noticed. Guarded by the lock of the worker. */
    private boolean isOwed;

    /** A thread that runs tasks under locks, and these tasks. */
    private static final class Worker {
        private final Thread thread = Thread.currentThread();
        private final ReentrantLock lock = new ReentrantLock();

        @GuardedBy("lock")
        private final List<LossInterrupt> begun = new ArrayList<>();

        /** Whether a loss has set the flag of the thread, if it is set. */
        @GuardedBy("lock")
        private boolean isFlaggedByLoss;

        @GuardedBy("lock")
        private void interrupt() {
            // If the flag is set, a second interrupt could hit what the thread does after it has cleared the first.
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

    /** Begins a task of the calling thread under a lock. */
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

    /** The lock is lost: interrupts the thread, unless the task has ended. Called by any thread. */
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

    /** Whether the calling thread is the one to interrupt. */
    public boolean isOfCaller() {
        return worker.thread == Thread.currentThread();
    }

    /** The task has ended, or knows of the loss. Idempotent. */
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
     * Passes on an {@link InterruptedException} of a task that has ended to the outer task, which then needs no flag.
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
