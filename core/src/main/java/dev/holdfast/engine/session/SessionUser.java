package dev.holdfast.engine.session;

import dev.holdfast.Loss;
import dev.holdfast.spi.ClaimRef;
import dev.holdfast.spi.StoreException;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A user of the sessions of the store's partitions: is notified of their events, and says which claims it has. All
 * methods are called without any lock of a resource.
 */
public interface SessionUser {

    /** A session was opened. */
    default void opened(Partition partition) {}

    /**
     * The store has refused a session, and would refuse it again.
     *
     * @param attempt the number of the attempt
     */
    default void refused(Partition partition, StoreException failure, long attempt) {}

    /** A keep-alive was acknowledged. */
    default void renewed(Partition partition) {}

    /** A session has ended, and with it all claims and grants that depend on it. */
    default void over(Partition partition, Session session, Loss.Cause cause) {}

    /** The store has answered nothing for the store time-out. */
    default void silent(Partition partition, StoreException failure) {}

    /** The client is closed: requests fail, holds are lost. */
    default void shut(Partition partition) {}

    /** Whether something of the partition is held, requested, or to be ended. Called under the lock of the keeper. */
    default boolean isUsing(Partition partition) {
        return false;
    }

    /** The claim of this identity; null if this user has none. */
    default @Nullable Claim find(ClaimRef ref) {
        return null;
    }

    /** Whether a claim at the store is one of this user's. */
    default boolean knows(ClaimRef ref) {
        return false;
    }

    /**
     * Compares the claims that the store has with those of this user, and removes its own from them.
     *
     * @param then runs after that, possibly on another thread
     */
    default void audit(Partition partition, Audit audit, Runnable then) {
        then.run();
    }

    /**
     * One audit of a session; see {@link Auditor}.
     *
     * @param present the claims that the store has, without those that a user has removed as its own
     * @param startedAt when the audit began
     * @param quietBefore a claim about which nothing was sent or answered since then was forgotten
     */
    record Audit(Session session, Set<ClaimRef> present, long startedAt, long quietBefore) {}
}
