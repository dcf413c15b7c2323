package dev.holdfast.store.ledger;

import dev.holdfast.store.ledger.table.Claim;
import dev.holdfast.store.ledger.table.Resource;
import dev.holdfast.store.ledger.table.Session;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What a transaction has locked, and what was read behind that.
 *
 * @param resources those of the names that have rows
 * @param sessions those of the sessions that have rows; they stay as they are until the transaction ends
 * @param now the time, not after any of the reading but that of the resources; 0 if it was not told
 * @param queues the first of those who wait for each of the resources; null if that was not read
 */
public record LockedRowSet(
        List<Resource> resources,
        List<Session> sessions,
        long now,
        @Nullable Queues queues) {

    /**
     * The first {@value BufferedClaimRows#AHEAD} of those who wait, resource by resource, head first.
     *
     * @param sessions of those, as they were then
     */
    public record Queues(List<Claim> claims, List<Session> sessions) {}
}
