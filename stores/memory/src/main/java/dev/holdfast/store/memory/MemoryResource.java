package dev.holdfast.store.memory;

import dev.holdfast.spi.ClaimRef;
import dev.holdfast.spi.Kind;
import dev.holdfast.spi.Order;
import dev.holdfast.spi.ResourceName;
import dev.holdfast.spi.ResourceSpec;
import org.jspecify.annotations.Nullable;

/** A resource in use: it has a holder or a waiter, or it is a closed latch. */
final class MemoryResource {

    final ResourceName name;

    /** The declaration of its first claim. */
    final ResourceSpec declared;

    /** The current capacity: as declared, unless resized. */
    int capacity;

    /** The sum of the weights of the grants. */
    long heldWeight;

    /** The newest token reserved for it. */
    long lastToken;

    @Nullable
    MemoryLatch latch;

    /** In the order of granting. */
    final Claims grants = new Claims();

    /** In queue order. Between two commands the head never fits. */
    final Claims queue = new Claims();

    MemoryResource(ResourceName name, ResourceSpec declared, long lastToken, @Nullable MemoryLatch latch) {
        this.name = name;
        this.declared = declared;
        this.capacity = declared.capacity();
        this.lastToken = lastToken;
        this.latch = latch;
    }

    /** Whether there is room, regardless of the queue. */
    boolean fits(int weight) {
        return declared.kind() == Kind.LATCH ? !isCounting() : heldWeight + weight <= capacity;
    }

    /** Whether a new claim is granted at once. */
    boolean admitsAtOnce(int weight) {
        return fits(weight) && (queue.isEmpty() || declared.order() == Order.BARGING);
    }

    boolean isCounting() {
        return latch != null && latch.remaining > 0;
    }

    boolean isInUse() {
        return !grants.isEmpty() || !queue.isEmpty() || isCounting();
    }

    @Nullable
    MemoryClaim claim(ClaimRef ref) {
        MemoryClaim grant = grants.get(ref);
        return grant != null ? grant : queue.get(ref);
    }
}
