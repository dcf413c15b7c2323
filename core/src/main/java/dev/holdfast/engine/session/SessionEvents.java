package dev.holdfast.engine.session;

import dev.holdfast.HoldfastListener.SessionEvent;
import dev.holdfast.Loss;
import dev.holdfast.spi.StoreException;

/**
 * What the keeper of a session asks of those who use the session, and what it notifies them of. Called without the
 * keeper's lock, except for {@link #isUnused} and {@link #alignedDelay}, which take no lock of a resource.
 */
interface SessionEvents {

    /**
     * Whether the session is to be ended because nothing needs it. Only where there are many partitions: each session
     * costs the store keep-alives.
     */
    boolean mayRest();

    /** Whether nothing under the session is held, waited for, or to be ended. */
    boolean isUnused();

    /**
     * Shortens a delay by up to a quarter of the interval, so that partitions that are due at about the same time are
     * renewed together.
     */
    long alignedDelay(long delay);

    /** A session was opened, or callers may have missed that there is one. */
    void opened();

    /**
     * A session could not be opened.
     *
     * @param attempt the number of this attempt
     */
    void notOpened(StoreException failure, long attempt);

    /** A keep-alive was acknowledged. */
    void renewed(Session session);

    /** A keep-alive failed. */
    void notRenewed(StoreException failure);

    /** All holds of a session are lost. */
    void over(Session session, Loss.Cause cause);

    /** Reports an event of the session to listeners. */
    void observe(SessionEvent.Type what);
}
