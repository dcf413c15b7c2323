package dev.holdfast.engine.session;

import dev.holdfast.Loss;
import dev.holdfast.spi.ClaimRef;
import dev.holdfast.spi.StoreException;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A user of the sessions of the store's partitions: learns what becomes of them, and tells which claims it has. All
 * methods are called without any lock of a resource.
 */
public interface SessionUser {

    /** A session is there: what waits for one goes on. */
    default void opened(Partition partition) {}

    /**
     * The store refuses a session, and would refuse it again.
     *
     * @param attempt how many times one had been asked for, this one included
     */
    default void refused(Partition partition, StoreException failure, long attempt) {}

    /** A keep-alive was acknowledged. */
    default void renewed(Partition partition) {}

    /** A session is over, and with it all claims and grants that hang on it. */
    default void over(Partition partition, Session session, Loss.Cause cause) {}

    /** The store has answered nothing for as long as anybody waits. */
    default void silent(Partition partition, StoreException failure) {}

    /** The client is closed: what waits fails, what is held is lost. */
    default void shut(Partition partition) {}

    /** Whether something of the partition is held, waited for, or to be ended. Called under the lock of the keeper. */
    default boolean isUsing(Partition partition) {
        return false;
    }

    /** The claim of this identity, if it takes answers of the store. */
    default @Nullable Claim find(ClaimRef ref) {
        return null;
    }

    /** The store says that a grant was taken away which {@link #find} does not know. */
    default void revoked(ClaimRef ref) {}

    /** Whether a claim is one of this user's, so that its presence at the store is no surprise. */
    default boolean knows(ClaimRef ref) {
        return false;
    }

    /** Compares the claims that the store has with those that are believed here. */
    default void audit(Partition partition, Audit audit) {}

    /**
     * One audit of a session; see {@link Auditor}.
     *
     * @param present the claims that the store has
     * @param known takes the claims that are believed here
     * @param startedAt when the audit began
     * @param quietBefore a claim about which nothing has come or gone since then was forgotten
     */
    record Audit(Session session, Set<ClaimRef> present, Set<ClaimRef> known, long startedAt, long quietBefore) {}
}
