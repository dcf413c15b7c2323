package dev.holdfast.spring;

/**
 * What happens to work whose lock is lost while it runs. Whatever it is, a {@link LockLostEvent} is published at once.
 */
public enum LossReaction {
    /**
     * The thread is interrupted, and when the work ends the caller gets {@link dev.holdfast.LockLostException},
     * whatever the work returned or threw. Asynchronous work is cancelled. The interrupt never outlives the work.
     */
    INTERRUPT,
    /** The work runs to its end undisturbed; then the caller gets {@link dev.holdfast.LockLostException}. */
    THROW,
    /** The work runs to its end, and the caller gets what it returned or threw: the event is all. */
    EVENT
}
