package dev.holdfast.engine.local;

import dev.holdfast.spi.ClaimRef;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The claims of a resource that go past the one that waits in the store's queue: each is tried once, for one request,
 * and takes no place there. Guarded by the lock of the resource.
 */
final class BargingClaims {

    /** Of all resources without any, which are almost all. Never added to. */
    static final BargingClaims NONE = new BargingClaims();

    private final Map<Request, LocalClaim> claims = new LinkedHashMap<>();

    /** Requests that have left the queue since it was last asked which claims are unwanted. */
    private final List<Request> left = new ArrayList<>(0);

    boolean isEmpty() {
        return claims.isEmpty();
    }

    /** These, or new ones if these are none. */
    BargingClaims orNew() {
        return this == NONE ? new BargingClaims() : this;
    }

    void add(Request request, LocalClaim claim) {
        claims.put(request, claim);
        request.barging = this;
    }

    /** Removes a claim; answers the request that it was for, or null if it was none of these. */
    @Nullable
    Request remove(LocalGrant over) {
        Request request = over.boundTo();
        if (request == null || !claims.remove(request, over)) {
            return null;
        }
        request.barging = null;
        return request;
    }

    /** A request with one of these claims has left the queue. */
    void left(Request request) {
        left.add(request);
    }

    boolean contains(LocalGrant claim) {
        Request request = claim.boundTo();
        return request != null && claims.get(request) == claim;
    }

    /** All of them, to go through while they change. */
    List<LocalClaim> all() {
        return List.copyOf(claims.values());
    }

    /** Those whose requests have ended since the last call. */
    List<LocalClaim> takeUnwanted() {
        if (left.isEmpty()) {
            return List.of();
        }
        List<LocalClaim> unwanted = new ArrayList<>();
        for (Request request : left) {
            LocalClaim claim = claims.get(request);
            if (claim != null && request.isDone()) {
                unwanted.add(claim);
            }
        }
        left.clear();
        return unwanted;
    }

    @Nullable
    LocalClaim find(ClaimRef ref) {
        for (LocalClaim claim : claims.values()) {
            if (claim.ref.equals(ref)) {
                return claim;
            }
        }
        return null;
    }

    void addRefs(Set<ClaimRef> refs) {
        claims.values().forEach(claim -> refs.add(claim.ref));
    }
}
