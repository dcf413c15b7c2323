package dev.holdfast.engine;

import dev.holdfast.spi.Kind;
import dev.holdfast.spi.Order;
import dev.holdfast.spi.ResourceSpec;

/**
 * What is asked of a resource by one of its faces.
 *
 * @param spec what the resource is
 * @param weight how much of the capacity is asked for
 * @param isOwned whether a hold belongs to the thread that asked, which then may ask again; else it belongs to itself
 */
record Mode(ResourceSpec spec, int weight, boolean isOwned) {

    static final Mode FAIR_MUTEX = new Mode(ResourceSpec.MUTEX, 1, true);
    static final Mode BARGING_MUTEX = new Mode(new ResourceSpec(Kind.MUTEX, 1, Order.BARGING), 1, true);

    /** Whether holds of this mode stand beside others under one grant. */
    boolean isShare() {
        return spec.kind() == Kind.LATCH || (spec.kind() == Kind.READ_WRITE && weight < spec.capacity());
    }
}
