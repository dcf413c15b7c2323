package dev.holdfast.engine.local;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import dev.holdfast.LockLostException;
import dev.holdfast.LockedTask;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * Interrupts a thread when its hold is lost, unless its work is done by then; its interrupt never outlives the work.
 */
public final class LossInterrupt {

    private final Thread worker;
    private final ReentrantLock lock = new ReentrantLock();

    @GuardedBy("lock")
    private boolean isDisarmed;

    @GuardedBy("lock")
    private boolean hasFired;

    public LossInterrupt(Thread worker) {
        this.worker = worker;
    }

    /**
     * Runs a task under a hold on the calling thread, closes the hold, and tells its loss before all else; what the
     * task threw is suppressed in that.
     */
    public static <T extends @Nullable Object, E extends Exception> T run(HoldHandle hold, LockedTask<T, E> task)
            throws E {
        LossInterrupt interrupt = new LossInterrupt(Thread.currentThread());
        hold.whenLost(loss -> interrupt.fire());
        T result;
        try {
            result = task.call(hold);
        } catch (Throwable t) {
            interrupt.disarm();
            try {
                hold.close();
            } catch (LockLostException lost) {
                lost.addSuppressed(t);
                throw lost;
            } catch (RuntimeException e) {
                t.addSuppressed(e);
            }
            throw t;
        }
        interrupt.disarm();
        hold.close();
        return result;
    }

    /** The work has lost its ground. */
    public void fire() {
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

    /** Whether it is the calling thread that would be interrupted. */
    public boolean isOfCaller() {
        return worker == Thread.currentThread();
    }

    /** The work is done, or knows that it is to end. Called by the worker. */
    public void disarm() {
        lock.lock();
        try {
            isDisarmed = true;
            if (hasFired) {
                // Ours, or merged with ours: two interrupts can't be told apart.
                Thread.interrupted();
                hasFired = false;
            }
        } finally {
            lock.unlock();
        }
    }
}
