package dev.holdfast.spring;

/**
 * The reaction to a loss of the lock while work runs. In each case a {@link LockLostEvent} is published at once.
 */
public enum LossReaction {
    /**
     * The thread is interrupted, and when the work ends the caller gets {@link dev.holdfast.LockLostException} instead
     * of a result or exception of the work. Asynchronous work is cancelled. The interrupt never outlives the work.
     */
    INTERRUPT,
    /** The work runs to its end without an interrupt; then the caller gets {@link dev.holdfast.LockLostException}. */
    THROW,
    /** The work runs to its end, and the caller gets its result or exception; only the event is published. */
    EVENT
}
