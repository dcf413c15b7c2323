package dev.holdfast.store.ledger.table;

import dev.holdfast.spi.ResourceName;
import dev.holdfast.spi.ResourceSpec;

/**
 * A resource's row.
 *
 * <p>The grant that found the resource free stands in the row itself, so that taking and giving back a lock that nobody
 * else wants is one update each. All others, and all waiters, have rows of their own; they are counted here, so that
 * nobody looks for them in vain.
 */
public final class Resource {

    public final ResourceName name;

    /** The bytes of the name. */
    public final byte[] key;

    /** Whether there is a row. */
    public boolean isStored;

    /** Whether the row is not as this object is. */
    public boolean isDirty;

    /** Whether all grants were checked for being alive, in this step. */
    public boolean isSwept;

    /**
     * Whether the head of the queue is alive and does not fit, as far as this step has seen; what changes that settles
     * it again.
     */
    public boolean isSettled;

    /** What it is declared to be; meaningless while nobody uses it. */
    public ResourceSpec declared;

    /** The present capacity: the declared one until it is resized. */
    public int capacity;

    /** The newest token that was reserved for it. */
    public long lastToken;

    /** The session of the grant in the row; 0 if there is none. Then all that follows is 0, up to {@code seq}. */
    public long session;

    public long claim;
    public int weight;
    public long firstToken;
    public long endToken;

    /** As {@link Claim#ends}. */
    public long ends;

    public long seq;

    /** How many grants have rows of their own. */
    public long grants;

    /** The sum of their weights. */
    public long shared;

    /** How many claims wait, dead ones that nobody has met yet included. */
    public long waiters;

    /** Rises with each claim that gets a row: the order of the queue, and the order of the grants. */
    public long places;

    public Resource(ResourceName name, byte[] key) {
        this.name = name;
        this.key = key;
        this.declared = ResourceSpec.MUTEX;
        this.capacity = declared.capacity();
    }

    public boolean hasInlineGrant() {
        return session != 0;
    }

    /** The sum of the weights of all grants. */
    public long held() {
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
