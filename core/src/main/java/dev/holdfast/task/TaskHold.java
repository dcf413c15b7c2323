package dev.holdfast.task;

import dev.holdfast.Hold;
import dev.holdfast.LockLostException;
import dev.holdfast.StoreUnavailableException;

/**
 * The hold of a scheduled task that was {@linkplain ScheduledTaskLock#tryBegin begun by hand}. Close it when the task
 * has ended. It belongs to itself: any thread may extend or close it.
 *
 * <p>It is not renewed. {@link #extend(java.time.Duration)} throws {@link IllegalStateException}, because it would not
 * set the minimum time.
 *
 * <p><b>Thread-safety:</b> all methods may be called from any thread.
 */
public interface TaskHold extends Hold {

    /**
     * Sets the maximum and the minimum time of the lock, both from now; may shorten either.
     *
     * <p><b>Blocking:</b> until the store has answered or the store time-out has passed. <b>Interruption:</b> has no
     * effect, and the flag stays set.
     *
     * @throws IllegalStateException if this hold was closed
     * @throws LockLostException if the hold is lost
     * @throws StoreUnavailableException if the store did not answer; the maximum time is the old or the new one, the
     *     deadline the earlier of both, and the minimum time is unchanged
     */
    void extend(TaskOptions options);

    /**
     * Ends the task: releases the lock, or keeps it until its minimum time has passed.
     *
     * <p><b>Blocking:</b> for the store's reply, at most for the store time-out. An unconfirmed release is logged and
     * retried, and the lease ends the lock at the latest. <b>Interruption:</b> has no effect, and the flag stays set.
     *
     * @throws LockLostException if the hold was lost before it was closed
     */
    @Override
    void close();
}
