package dev.holdfast;

import dev.holdfast.spi.Kind;
import org.jspecify.annotations.Nullable;

/**
 * Is told what becomes of every acquisition of a client: the ground for metrics and traces.
 *
 * <p>Re-entrant acquisitions cost no wait and no store, and are not told. Neither are keep-alives, nor what goes over
 * the wire: to see that, put a {@link dev.holdfast.spi.LockStore} of your own around the store.
 *
 * <p><b>Thread-safety:</b> called by many threads at a time, each acquisition in its order. Methods are called on the
 * threads of the program or of the client, so they must be quick and must not block; what they throw is logged and does
 * no harm.
 */
public interface HoldfastListener {

    /**
     * Something is asked for; called on the thread that asks, before it waits.
     *
     * @return who is told how it goes on, or null if nobody is to be
     */
    @Nullable
    Acquisition asked(Asked what);

    /**
     * What is asked for.
     *
     * @param name the resource
     * @param kind what it is
     * @param weight how much of it: permits of a semaphore; of a read-write lock 1 for a reader, all for a writer
     * @param store the store, for people
     */
    record Asked(String name, Kind kind, int weight, String store) {}

    /** The way of one acquisition: first how the wait ended, and if it was granted, how the hold ended. */
    interface Acquisition {

        /**
         * The wait is over, and the hold has begun. Called on the thread that waited; for asynchronous ones on the
         * callback executor, and on any thread of the client for what an election, a barrier or an asynchronous
         * multi-lock asks for.
         *
         * @param token the fencing token
         * @param isHandedOver whether it came from another thread of this client, without a way to the store
         */
        default void granted(long token, boolean isHandedOver) {}

        /** The wait is over, and there is no hold. Called where {@link #granted} would be. */
        default void notGranted(WaitEnd how) {}

        /** The owner has released the hold, and the store has answered if it was asked. Called once, last. */
        default void released(ReleaseOutcome outcome) {}

        /** The hold was lost. Called at most once; its owner releases it all the same. */
        default void lost(Loss loss) {}
    }

    /** How a wait ended without a hold. */
    enum WaitEnd {
        /** Others kept the resource, for all of the wait or at the one attempt. */
        TAKEN,
        /** The waiting thread was interrupted, or the stage cancelled. */
        GIVEN_UP,
        /** The store did not answer or refused, or the client was closed. */
        FAILED
    }
}
