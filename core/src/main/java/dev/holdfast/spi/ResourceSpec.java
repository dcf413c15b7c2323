package dev.holdfast.spi;

import org.jspecify.annotations.Nullable;

/**
 * What a claim declares its resource to be.
 *
 * @param kind what the resource is
 * @param capacity the sum of weights that may be held at once; at least 1, and for a latch always 1
 * @param order how claims are admitted; fair for a latch, whose claims never exclude each other
 */
public record ResourceSpec(Kind kind, int capacity, Order order) {

    /** A fair mutex: the most common declaration. */
    public static final ResourceSpec MUTEX = new ResourceSpec(Kind.MUTEX, 1, Order.FAIR);

    /**
     * Checks the capacity and the order.
     *
     * @throws IllegalArgumentException if they do not suit the kind
     */
    public ResourceSpec {
        boolean suits = switch (kind) {
            case MUTEX, ELECTION, TASK -> capacity == 1;
            case LATCH -> capacity == 1 && order == Order.FAIR;
            case READ_WRITE -> capacity == Integer.MAX_VALUE;
            case SEMAPHORE -> capacity >= 1;
        };
        if (!suits) {
            throw new IllegalArgumentException(
                    "Capacity " + capacity + " and order " + order + " don't fit the kind " + kind);
        }
    }

    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof ResourceSpec that
                && kind == that.kind
                && capacity == that.capacity
                && order == that.order;
    }

    @Override
    public int hashCode() {
        return (kind.hashCode() * 31 + order.hashCode()) * 31 + capacity;
    }
}
