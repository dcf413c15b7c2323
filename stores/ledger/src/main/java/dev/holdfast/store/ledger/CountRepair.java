package dev.holdfast.store.ledger;

import dev.holdfast.store.ledger.table.ResourceRow;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Repairs the counts of a resource after claim rows were deleted by hand. The resource's row is locked meanwhile, and
 * every transaction that adds or drops a claim locks it too, so the rows read are complete.
 *
 * <p>Not thread-safe.
 */
final class CountRepair {

    private static final Logger LOG = LoggerFactory.getLogger(CountRepair.class);

    private final LedgerTransaction transaction;

    CountRepair(LedgerTransaction transaction) {
        this.transaction = transaction;
    }

    /** Sets the number and total weight of grants with their own rows to the values read. */
    void grants(ResourceRow resource, long grants, long weight) {
        if (resource.grants == grants && resource.shared == weight) {
            return;
        }
        transaction.mustWrite();
        LOG.warn(
                "resource={} recorded {} grants of weight {}, but has rows for {} of weight {}: "
                        + "someone changed claim rows by hand, and holders whose rows were deleted have lost "
                        + "their locks; the counts are corrected",
                resource.name,
                resource.grants,
                resource.shared,
                grants,
                weight);
        resource.grants = grants;
        resource.shared = weight;
        resource.isDirty = true;
    }

    /** Records that no claim waits. */
    void noWaiters(ResourceRow resource) {
        transaction.mustWrite();
        LOG.warn(
                "resource={} recorded {} waiters, but has no rows for them: someone deleted claim "
                        + "rows by hand, and their waiters will retry; the count is corrected",
                resource.name,
                resource.waiters);
        resource.waiters = 0;
        resource.isDirty = true;
    }
}
