package dev.holdfast.engine.local;

import dev.holdfast.LockLostException;
import dev.holdfast.LockedTask;
import dev.holdfast.spi.support.LossInterrupt;
import org.jspecify.annotations.Nullable;

/** Runs a task on the calling thread for as long as it has a hold. */
public final class TaskWhileHeld {

    private TaskWhileHeld() {}

    /**
     * Runs a task under a hold, interrupts it at a loss, and closes the hold. A loss takes precedence: the exception of
     * the task is suppressed in it.
     */
    public static <T extends @Nullable Object, E extends Exception> T run(HoldHandle hold, LockedTask<T, E> task)
            throws E {
        LossInterrupt interrupt = LossInterrupt.begin();
        hold.whenLost(loss -> interrupt.fire());
        T result;
        try {
            result = task.call(hold);
        } catch (Throwable t) {
            interrupt.end();
            try {
                hold.close();
            } catch (LockLostException lost) {
                lost.addSuppressed(t);
                throw lost;
            } catch (RuntimeException e) {
                t.addSuppressed(e);
            }
            if (t instanceof InterruptedException) {
                interrupt.passOn();
            }
            throw t;
        }
        interrupt.end();
        hold.close();
        return result;
    }
}
