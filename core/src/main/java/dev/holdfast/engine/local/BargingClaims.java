package dev.holdfast.engine.local;

import dev.holdfast.spi.ClaimRef;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The claims of a resource that go past the one that waits in the store's queue: each is tried once, for one request,
 * and takes no place there. Immutable, so that all resources without any, which are almost all, share one.
 */
record BargingClaims(List<LocalClaim> claims) {

    static final BargingClaims NONE = new BargingClaims(List.of());

    boolean isEmpty() {
        return claims.isEmpty();
    }

    BargingClaims with(LocalClaim claim) {
        return new BargingClaims(
                Stream.concat(claims.stream(), Stream.of(claim)).toList());
    }

    BargingClaims without(LocalGrant over) {
        if (!claims.contains(over)) {
            return this;
        }
        return claims.size() == 1
                ? NONE
                : new BargingClaims(
                        claims.stream().filter(other -> other != over).toList());
    }

    /** Whether one of them is for this request. */
    boolean serve(Request request) {
        return !claims.isEmpty() && claims.stream().anyMatch(claim -> claim.suits(request));
    }

    @Nullable
    LocalClaim find(ClaimRef ref) {
        for (LocalClaim claim : claims) {
            if (claim.ref.equals(ref)) {
                return claim;
            }
        }
        return null;
    }

    void addRefs(Set<ClaimRef> refs) {
        claims.forEach(claim -> refs.add(claim.ref));
    }
}
