package dev.holdfast.store.ledger.table;

import dev.holdfast.spi.ResourceName;
import dev.holdfast.spi.ResourceSpec;

/**
 * The row of a resource.
 *
 * <p>A grant that found the resource free is stored inline, in this row, so that an uncontended acquire or release is
 * one update. All other grants and all waiters have their own rows. They are counted here, so that their table is read
 * only if there are any.
 */
public final class ResourceRow {

    public final ResourceName name;

    /** The bytes of the name. */
    public final byte[] key;

    /** Whether there is a row. */
    public boolean isStored;

    /** Whether this object has changes that are not in the row. */
    public boolean isDirty;

    /** Whether all grants were checked for liveness in this step. */
    public boolean isSwept;

    /**
     * Whether the head of the queue was found alive and not fitting in this step. Operations that change this settle
     * the resource again.
     */
    public boolean isSettled;

    /** Its declaration; meaningless while it is not in use. */
    public ResourceSpec declared;

    /** The current capacity: the declared one until it is resized. */
    public int capacity;

    /** The newest token that was reserved for it. */
    public long lastToken;

    /** The session of the inline grant; 0 if there is none, and then all fields up to {@code seq} are 0. */
    public long session;

    public long claim;
    public int weight;
    public long firstToken;
    public long endToken;

    /** As {@link ClaimRow#ends}. */
    public long ends;

    public long seq;

    /** How many grants have their own rows. */
    public long grants;

    /** The sum of their weights. */
    public long shared;

    /** How many claims wait, including dead ones that were not detected yet. */
    public long waiters;

    /** Increases with each claim that gets a row: it orders the queue and the grants. */
    public long places;

    public ResourceRow(ResourceName name, byte[] key) {
        this.name = name;
        this.key = key;
        this.declared = ResourceSpec.MUTEX;
        this.capacity = declared.capacity();
    }

    public boolean hasInlineGrant() {
        return session != 0;
    }

    /** The sum of the weights of all grants. */
    public long grantedWeight() {
        return shared + weight;
    }

    public void clearInlineGrant() {
        session = 0;
        claim = 0;
        weight = 0;
        firstToken = 0;
        endToken = 0;
        ends = 0;
        seq = 0;
        isDirty = true;
    }
}
