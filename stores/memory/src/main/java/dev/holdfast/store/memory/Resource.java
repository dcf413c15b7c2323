package dev.holdfast.store.memory;

import dev.holdfast.spi.ClaimRef;
import dev.holdfast.spi.Kind;
import dev.holdfast.spi.Order;
import dev.holdfast.spi.ResourceName;
import dev.holdfast.spi.ResourceSpec;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** A resource that is in use: somebody holds it or waits for it, or it is a latch that counts. */
final class Resource {

    final ResourceName name;

    /** What its first claim declared it to be. */
    final ResourceSpec declared;

    /** The present capacity: the declared one until it is resized. */
    int capacity;

    /** The sum of the weights of the grants. */
    long held;

    /** The newest token that was reserved for it. */
    long lastToken;

    @Nullable
    Latch latch;

    /** Oldest grant first. */
    final Map<ClaimRef, Claim> grants = new LinkedHashMap<>();

    /** Head first. Between two commands the head never fits. */
    final Map<ClaimRef, Claim> queue = new LinkedHashMap<>();

    Resource(ResourceName name, ResourceSpec declared, long lastToken, @Nullable Latch latch) {
        this.name = name;
        this.declared = declared;
        this.capacity = declared.capacity();
        this.lastToken = lastToken;
        this.latch = latch;
    }

    /** Whether there is room, leaving the queue aside. */
    boolean fits(int weight) {
        return declared.kind() == Kind.LATCH ? !isCounting() : held + weight <= capacity;
    }

    /** Whether a claim that comes now is admitted. */
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
    Claim claim(ClaimRef ref) {
        Claim grant = grants.get(ref);
        return grant != null ? grant : queue.get(ref);
    }
}
