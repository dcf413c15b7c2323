package dev.holdfast.store.memory;

import dev.holdfast.spi.ClaimRef;
import dev.holdfast.spi.Command.Acquire;
import dev.holdfast.spi.Lease;
import dev.holdfast.spi.Lease.Binding;
import dev.holdfast.spi.TokenBlock;
import org.jspecify.annotations.Nullable;

/** A claim: it waits until it has tokens, and then is a grant. */
final class Claim extends Expiring {

    final ClaimRef ref;
    final Resource resource;
    final Session session;
    final Lease lease;
    final int tokensWanted;

    int weight;

    /** Its newest block; null while it waits. */
    @Nullable
    TokenBlock tokens;

    /** Whether its claimant was told of the grant: then a lease of its own has begun. */
    boolean pickedUp;

    /** The sequence number of the last extension that acted. */
    long extension;

    Claim(long number, Acquire request, Resource resource, Session session) {
        super(number);
        this.ref = request.claim();
        this.resource = resource;
        this.session = session;
        this.lease = request.lease();
        this.weight = request.weight();
        this.tokensWanted = request.tokens();
    }

    boolean hasOwnLease() {
        return lease.binding() != Binding.SESSION;
    }

    /** Whether the end of the session leaves it alone. */
    boolean isDetached() {
        return lease.binding() == Binding.DETACHED && pickedUp;
    }

    /** The microseconds after which it ends if nobody renews or extends anything. */
    long leftInAll(long now) {
        if (!hasOwnLease() || !pickedUp) {
            return session.left(now);
        }
        return isDetached() ? left(now) : Math.min(left(now), session.left(now));
    }
}
