package dev.holdfast.store.register.machine;

import dev.holdfast.spi.ClaimRef;
import dev.holdfast.spi.Kind;
import dev.holdfast.spi.Order;
import dev.holdfast.spi.ResourceName;
import dev.holdfast.spi.ResourceSpec;
import dev.holdfast.spi.SessionId;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The recorded state of one resource. Tokens are relative to the base of the incarnation of the record, or to 0. Not
 * thread-safe.
 */
final class ResourceState {

    final ResourceName name;

    /** The declaration of its first claim; null while it is unused. */
    @Nullable
    ResourceSpec declared;

    /** The present capacity: the declared one until it is resized. */
    int capacity;

    /** The newest token that was reserved, relative to the base. */
    long lastToken;

    @Nullable
    LatchState latch;

    /** Oldest grant first. */
    final Map<ClaimRef, ClaimEntry> grants = new LinkedHashMap<>();

    /** Head first. Between two steps the head never fits. */
    final Map<ClaimRef, ClaimEntry> queue = new LinkedHashMap<>();

    ResourceState(ResourceName name) {
        this.name = name;
    }

    /** Declares it unless it is in use, and returns the valid declaration. */
    ResourceSpec use(ResourceSpec spec) {
        ResourceSpec known = declared;
        if (known != null) {
            return known;
        }
        declared = spec;
        capacity = spec.capacity();
        return spec;
    }

    boolean isCounting() {
        return latch != null && latch.remaining > 0;
    }

    boolean isInUse() {
        return !grants.isEmpty() || !queue.isEmpty() || isCounting();
    }

    /** The sum of the weights of the grants. */
    long heldWeight() {
        long sum = 0;
        for (ClaimEntry grant : grants.values()) {
            sum += grant.weight;
        }
        return sum;
    }

    /** Whether there is room, disregarding the queue. */
    boolean fits(ResourceSpec spec, int weight) {
        return spec.kind() == Kind.LATCH ? !isCounting() : heldWeight() + weight <= capacity;
    }

    /** Whether a new claim is granted at once. */
    boolean admitsAtOnce(ResourceSpec spec, int weight) {
        return fits(spec, weight) && (queue.isEmpty() || spec.order() == Order.BARGING);
    }

    @Nullable
    ClaimEntry claim(ClaimRef ref) {
        ClaimEntry grant = grants.get(ref);
        return grant != null ? grant : queue.get(ref);
    }

    void remove(ClaimEntry claim) {
        if (grants.remove(claim.ref) == null) {
            queue.remove(claim.ref);
        }
    }

    /** How many hold or wait. */
    int parties() {
        return grants.size() + queue.size();
    }

    /** The oldest grant, or the head of the queue if there is no grant; there must be one of them. */
    ClaimEntry first() {
        return (grants.isEmpty() ? queue : grants).values().iterator().next();
    }

    void forEach(Consumer<ClaimEntry> action) {
        grants.values().forEach(action);
        queue.values().forEach(action);
    }

    /** Whether the whole capacity is held, so that the waiters don't matter while the holders live. */
    boolean isHeldWhole() {
        return declared != null && heldWeight() >= capacity && !isCounting();
    }

    /**
     * The sessions of some claims, and their leases that the server keeps; each once, in the order of the claims.
     *
     * @param most the most that are returned
     */
    static Set<SessionId> sessions(Collection<ClaimEntry> claims, int most) {
        Set<SessionId> ids = new LinkedHashSet<>();
        for (ClaimEntry claim : claims) {
            if (claims.size() == 1 && !claim.hasOwnLease()) {
                return Set.of(claim.session.id());
            }
            if (ids.size() < most && !claim.outlivesSession()) {
                ids.add(claim.session.id());
            }
            if (ids.size() < most && claim.leaseId != null) {
                ids.add(claim.leaseId);
            }
        }
        return ids;
    }
}
