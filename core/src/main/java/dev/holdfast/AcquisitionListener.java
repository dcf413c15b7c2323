package dev.holdfast;

/**
 * Receives the events of one acquisition: {@link #onGranted} or {@link #onNotGranted}, once; after a grant at most one
 * {@link #onLost}, {@link #onReleasing} when its owner releases it, and last {@link #onReleased}.
 *
 * <p><b>Thread-safety:</b> the methods are called one after another, each after the one before has returned, but by
 * different threads, as {@link HoldfastListener} says. Only {@link #onReleasing} may run at the same time as {@link
 * #onLost}.
 */
public interface AcquisitionListener {

    /**
     * The wait has ended, and the hold has begun. Called on the thread that waited; for an asynchronous acquisition on
     * the callback executor; and on any thread of the client for one by an election, a barrier or an asynchronous
     * multi-lock.
     *
     * @param token the fencing token
     * @param source where the grant came from
     */
    default void onGranted(long token, GrantSource source) {}

    /** The wait has ended without a hold. Called on the thread that {@link #onGranted} would be called on. */
    default void onNotGranted(WaitEnd end) {}

    /** The hold was lost. Its owner still releases it. */
    default void onLost(Loss loss) {}

    /**
     * The owner releases the hold: called on its thread, before anyone else can get the resource. Not called if an
     * asynchronous hold is released before {@link #onGranted} has returned.
     */
    default void onReleasing() {}

    /** The owner has released the hold, and the store has answered if a command was sent. Called last. */
    default void onReleased(ReleaseOutcome outcome) {}

    /** Where a grant came from. */
    enum GrantSource {
        /** The store granted the claim. */
        STORE,
        /** Another thread of this client handed its grant over in memory, without a round trip to the store. */
        LOCAL_HAND_OVER
    }

    /** How a wait ended without a hold. */
    enum WaitEnd {
        /** The only attempt of a call that does not wait found the resource taken, or others waiting for it. */
        TAKEN,
        /** Others kept the resource for all of the maximum wait. */
        TIMED_OUT,
        /** The waiting thread was interrupted, or the stage was cancelled. */
        CANCELLED,
        /** The store did not answer or refused, or the client was closed. */
        FAILED
    }
}
