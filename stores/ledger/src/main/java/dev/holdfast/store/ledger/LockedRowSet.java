package dev.holdfast.store.ledger;

import dev.holdfast.store.ledger.table.ClaimRow;
import dev.holdfast.store.ledger.table.ResourceRow;
import dev.holdfast.store.ledger.table.SessionRow;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The rows that a transaction has locked, and those read after them.
 *
 * @param resources of the names that have rows
 * @param sessions of the ids that have rows; they stay unchanged until the transaction ends
 * @param now the time, no later than any read except that of the resources; 0 if unknown
 * @param queues the first waiters of each resource; null if they were not read
 */
public record LockedRowSet(
        List<ResourceRow> resources,
        List<SessionRow> sessions,
        long now,
        @Nullable Queues queues) {

    /**
     * The first {@value BufferedClaimRows#AHEAD} waiters of each resource, head first.
     *
     * @param sessions the waiters' sessions, as they were then
     */
    public record Queues(List<ClaimRow> claims, List<SessionRow> sessions) {}
}
