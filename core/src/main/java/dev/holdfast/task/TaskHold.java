package dev.holdfast.task;

import dev.holdfast.Hold;
import dev.holdfast.LockLostException;
import dev.holdfast.StoreUnavailableException;

/**
 * What its owner has in hand while a scheduled task runs that was {@linkplain ScheduledTaskLock#tryBegin begun by
 * hand}: close it when the task has ended. It belongs to nobody but itself: any thread may extend or close it.
 *
 * <p>It is not renewed. {@link #extend(java.time.Duration)} is refused, for it says nothing of the least time.
 *
 * <p><b>Thread-safety:</b> all methods may be called from any thread.
 */
public interface TaskHold extends Hold {

    /**
     * Sets anew how long the lock lasts at most and at least, both from now; may shorten either.
     *
     * <p><b>Blocking:</b> until the store has answered. <b>Interruption:</b> has no effect.
     *
     * @throws IllegalStateException if this hold was closed
     * @throws LockLostException if the hold is lost
     * @throws StoreUnavailableException if the store did not answer; the greatest time is the old or the new one, and
     *     the deadline the earlier of both, while the least time is as it was
     */
    void extend(TaskOptions options);

    /**
     * Ends the task: gives the lock back, or keeps it for what is left of its least time.
     *
     * <p><b>Blocking:</b> for the store's answer, at most for the store time-out. If the store does not confirm the
     * end, that is logged and repeated, and the lock ends by itself at the latest. <b>Interruption:</b> has no effect,
     * and the flag stays set.
     *
     * @throws LockLostException if the hold was lost before it was closed
     */
    @Override
    void close();
}
