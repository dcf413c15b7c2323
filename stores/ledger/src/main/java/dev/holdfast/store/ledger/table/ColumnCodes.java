package dev.holdfast.store.ledger.table;

import dev.holdfast.spi.Kind;
import dev.holdfast.spi.Lease.Binding;
import dev.holdfast.spi.Order;
import dev.holdfast.spi.ResourceSpec;

/** Numbers that represent the constants of the code in rows. They never change. */
public final class ColumnCodes {

    private static final int ORDER_SHIFT = 8;
    private static final int CAPACITY_SHIFT = 16;
    private static final int BYTE = 0xff;

    private ColumnCodes() {}

    /** A declaration as one number: capacity, order, kind. */
    public static long of(ResourceSpec spec) {
        long order = switch (spec.order()) {
            case FAIR -> 0;
            case BARGING -> 1;
        };
        return (long) spec.capacity() << CAPACITY_SHIFT
                | order << ORDER_SHIFT
                | spec.kind().code();
    }

    /**
     * A declaration from its number.
     *
     * @throws IllegalArgumentException if the number is not valid
     */
    public static ResourceSpec spec(long code) {
        long capacity = code >> CAPACITY_SHIFT;
        if (capacity < 1 || capacity > Integer.MAX_VALUE) {
            throw new IllegalArgumentException("Not a valid capacity: " + capacity);
        }
        Order order = switch ((int) (code >> ORDER_SHIFT & BYTE)) {
            case 0 -> Order.FAIR;
            case 1 -> Order.BARGING;
            default -> throw new IllegalArgumentException("No order has the code " + code);
        };
        return new ResourceSpec(Kind.ofCode((char) (code & BYTE)), (int) capacity, order);
    }

    public static int of(Binding binding) {
        return switch (binding) {
            case SESSION -> 0;
            case BOUNDED -> 1;
            case DETACHED -> 2;
        };
    }

    /**
     * A binding from its number.
     *
     * @throws IllegalArgumentException if the number is not valid
     */
    public static Binding binding(int code) {
        return switch (code) {
            case 0 -> Binding.SESSION;
            case 1 -> Binding.BOUNDED;
            case 2 -> Binding.DETACHED;
            default -> throw new IllegalArgumentException("No binding has the code " + code);
        };
    }
}
