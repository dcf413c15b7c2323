package dev.holdfast.store.ledger;

import dev.holdfast.spi.Lease.Binding;
import dev.holdfast.store.ledger.table.ClaimRow;
import dev.holdfast.store.ledger.table.ClaimRows;
import dev.holdfast.store.ledger.table.ResourceRow;
import java.sql.SQLException;
import org.jspecify.annotations.Nullable;

/**
 * Places claims in rows. A grant that finds its resource free is stored inline, in the resource's row; every other
 * claim has its own row, which the resource's row counts. {@link Ledger} decides about admission and what happens when
 * room becomes free.
 *
 * <p>Not thread-safe.
 */
public final class Claims {

    private final LedgerTransaction transaction;
    private final ClaimRows rows;
    private final StoreContext context;

    Claims(LedgerTransaction transaction, ClaimRows rows, StoreContext context) {
        this.transaction = transaction;
        this.rows = rows;
        this.context = context;
    }

    /** A claim, alive or dead; null if there is none. */
    @Nullable
    ClaimRow find(ResourceRow resource, long session, long number) throws SQLException {
        if (session != 0 && resource.session == session && resource.claim == number) {
            return ClaimRow.inline(resource);
        }
        return resource.grants == 0 && resource.waiters == 0 ? null : rows.find(resource, session, number);
    }

    /** Appends a claim to the queue. */
    void enqueue(ClaimRow claim) throws SQLException {
        transaction.mustWrite();
        ResourceRow resource = claim.resource;
        claim.place = nextPlace(resource);
        claim.queuedAt = transaction.now();
        rows.add(claim);
        resource.waiters++;
        resource.isDirty = true;
    }

    /**
     * The place of a new row. If it is the first one, existing claim rows belonged to a row of the resource that was
     * deleted by hand, and were lost with it.
     */
    private long nextPlace(ResourceRow resource) throws SQLException {
        if (resource.places == 0) {
            rows.dropUncounted(resource);
        }
        return ++resource.places;
    }

    /** Drops the claim rows of a resource that has never counted a claim. */
    public void dropUncounted(ResourceRow resource) throws SQLException {
        if (resource.places == 0) {
            transaction.mustWrite();
            rows.dropUncounted(resource);
        }
    }

    /** Removes a claim from the queue. */
    void dequeue(ClaimRow waiter) throws SQLException {
        transaction.mustWrite();
        rows.drop(waiter);
        waiter.place = 0;
        waiter.resource.waiters = Math.max(0, waiter.resource.waiters - 1);
        waiter.resource.isDirty = true;
    }

    /** Adds a new grant. */
    void addGrant(ClaimRow grant) throws SQLException {
        transaction.mustWrite();
        ResourceRow resource = grant.resource;
        if (resource.hasInlineGrant() || resource.grants > 0 || grant.binding == Binding.DETACHED) {
            grant.place = nextPlace(resource);
            rows.add(grant);
            resource.grants++;
            resource.shared += grant.weight;
            resource.isDirty = true;
            lastIfDetached(grant);
        } else {
            resource.session = grant.session;
            resource.claim = grant.number;
            setInline(grant);
        }
    }

    /** Saves a changed grant, except for its weight. */
    void save(ClaimRow grant) throws SQLException {
        transaction.mustWrite();
        if (grant.isInline()) {
            setInline(grant);
        } else {
            rows.save(grant);
            lastIfDetached(grant);
        }
    }

    /** Saves a grant with a new weight and its other changes. */
    void weigh(ClaimRow grant, int weight) throws SQLException {
        if (!grant.isInline()) {
            grant.resource.shared += weight - grant.weight;
            grant.resource.isDirty = true;
        }
        grant.weight = weight;
        save(grant);
    }

    /** Removes a claim in any state. */
    void remove(ClaimRow claim) throws SQLException {
        ResourceRow resource = claim.resource;
        if (claim.isInline()) {
            clearInline(resource);
        } else if (claim.isGranted) {
            transaction.mustWrite();
            rows.drop(claim);
            resource.grants = Math.max(0, resource.grants - 1);
            resource.shared = Math.max(0, resource.shared - claim.weight);
            resource.isDirty = true;
        } else {
            dequeue(claim);
        }
    }

    /** Clears the inline grant. */
    void clearInline(ResourceRow resource) {
        transaction.mustWrite();
        resource.clearInlineGrant();
    }

    private void lastIfDetached(ClaimRow grant) throws SQLException {
        if (grant.outlivesSession()) {
            context.mustLast();
        }
    }

    private static void setInline(ClaimRow grant) {
        ResourceRow resource = grant.resource;
        resource.weight = grant.weight;
        resource.firstToken = grant.firstToken;
        resource.endToken = grant.endToken;
        resource.ends = grant.ends;
        resource.seq = grant.seq;
        resource.isDirty = true;
    }
}
