package dev.holdfast.engine.local;

import dev.holdfast.spi.Kind;
import dev.holdfast.spi.Order;
import dev.holdfast.spi.ResourceSpec;

/**
 * How a resource is acquired: as a mutex, as one side of a read-write lock, or for some permits.
 *
 * @param spec what the resource is
 * @param weight how much of the capacity is asked for
 * @param isOwned whether a hold belongs to the thread that asked, which may enter again; otherwise it owns itself
 * @param sharing whether holds of this mode share a grant
 * @param holds makes the holds
 */
public record Mode(ResourceSpec spec, int weight, boolean isOwned, Sharing sharing, HoldFactory holds) {
    public static final Mode FAIR_MUTEX = owned(ResourceSpec.MUTEX, 1);
    public static final Mode BARGING_MUTEX = owned(new ResourceSpec(Kind.MUTEX, 1, Order.BARGING), 1);

    /** Makes the hold of a request that is granted, under the lock of its resource. */
    @FunctionalInterface
    public interface HoldFactory {
        LocalHold make(HoldIssuer issuer, Grant grant, Request request, long token);
    }

    private Mode(ResourceSpec spec, int weight, boolean isOwned, HoldFactory holds) {
        this(spec, weight, isOwned, KindPolicy.of(spec.kind()).sharing(weight, spec.capacity()), holds);
    }

    /** For holds that belong to the thread that asks. */
    public static Mode owned(ResourceSpec spec, int weight) {
        return new Mode(spec, weight, true, LocalHold::new);
    }

    /** For holds that belong to themselves. */
    public static Mode unowned(ResourceSpec spec, int weight) {
        return unowned(spec, weight, LocalHold::new);
    }

    public static Mode unowned(ResourceSpec spec, int weight, HoldFactory holds) {
        return new Mode(spec, weight, false, holds);
    }
}
