package dev.holdfast.store.ledger;

import dev.holdfast.store.ledger.table.Resource;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Repair of the counts of a resource after rows of its claims were deleted by hand. The row of the resource is locked
 * meanwhile. Whoever adds or drops a claim has to lock it too, so the rows that are read are those that there are.
 *
 * <p>Not thread-safe.
 */
final class CountRepair {

    private static final Logger LOG = LoggerFactory.getLogger(CountRepair.class);

    private final Transaction transaction;

    CountRepair(Transaction transaction) {
        this.transaction = transaction;
    }

    /** Sets the number and the weight of the grants with rows of their own to what was read. */
    void grants(Resource resource, long grants, long weight) {
        if (resource.grants == grants && resource.shared == weight) {
            return;
        }
        transaction.mustWrite();
        LOG.warn(
                "resource={} counted {} grants of weight {} and has rows of {} of weight {}: rows of claims were"
                        + " changed by hand, and what was deleted is lost to its holder; the counts are corrected",
                resource.name,
                resource.grants,
                resource.shared,
                grants,
                weight);
        resource.grants = grants;
        resource.shared = weight;
        resource.isDirty = true;
    }

    /** No claim waits. */
    void noWaiters(Resource resource) {
        transaction.mustWrite();
        LOG.warn(
                "resource={} counted {} waiters and has rows of none: rows of claims were deleted by hand, and who"
                        + " waited by them asks again; the count is corrected",
                resource.name,
                resource.waiters);
        resource.waiters = 0;
        resource.isDirty = true;
    }
}
