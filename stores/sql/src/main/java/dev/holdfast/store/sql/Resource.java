package dev.holdfast.store.sql;

import dev.holdfast.spi.ResourceName;
import dev.holdfast.spi.ResourceSpec;

/**
 * A resource's row.
 *
 * <p>The grant that found the resource free stands in the row itself, so that taking and giving back a lock that nobody
 * else wants is one update each. All others, and all waiters, have rows of their own; they are counted here, so that
 * nobody looks for them in vain.
 */
final class Resource {

    final ResourceName name;

    /** The bytes of the name. */
    final byte[] key;

    /** Whether there is a row. */
    boolean isStored;

    /** Whether the row is not as this object is. */
    boolean isDirty;

    /** Whether all grants were checked for being alive, in this step. */
    boolean isSwept;

    /**
     * Whether the head of the queue is alive and does not fit, as far as this step has seen; what changes that settles
     * it again.
     */
    boolean isSettled;

    /** What it is declared to be; meaningless while nobody uses it. */
    ResourceSpec declared;

    /** The present capacity: the declared one until it is resized. */
    int capacity;

    /** The newest token that was reserved for it. */
    long lastToken;

    /** The session of the grant in the row; 0 if there is none. Then all that follows is 0, up to {@code seq}. */
    long session;

    long claim;
    int weight;
    long firstToken;
    long endToken;

    /** As {@link Claim#ends}. */
    long ends;

    long seq;

    /** How many grants have rows of their own. */
    long grants;

    /** The sum of their weights. */
    long shared;

    /** How many claims wait, dead ones that nobody has met yet included. */
    long waiters;

    /** Rises with each claim that gets a row: the order of the queue, and the order of the grants. */
    long places;

    Resource(ResourceName name, byte[] key) {
        this.name = name;
        this.key = key;
        this.declared = ResourceSpec.MUTEX;
        this.capacity = declared.capacity();
    }

    boolean hasInlineGrant() {
        return session != 0;
    }

    /** The sum of the weights of all grants. */
    long held() {
        return shared + weight;
    }

    void clearInlineGrant() {
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
