package dev.holdfast.store.memory;

import dev.holdfast.spi.ClaimRef;
import dev.holdfast.spi.Command.Acquire;
import dev.holdfast.spi.Lease;
import dev.holdfast.spi.Lease.Binding;
import dev.holdfast.spi.TokenBlock;
import org.jspecify.annotations.Nullable;

/** A recorded claim: it waits until it has tokens, and is a grant from then on. */
final class MemoryClaim extends Expiring {

    final ClaimRef ref;
    final MemoryResource resource;
    final MemorySession session;
    final Lease lease;
    final int tokensWanted;

    int weight;

    /** Its newest token block; null while it waits. */
    @Nullable
    TokenBlock tokens;

    /** Whether a reply has reported the grant to the claimant: a fixed lease starts with that. */
    boolean pickedUp;

    /** The sequence number of the last extension that had an effect. */
    long extension;

    /** When it was queued; 0 if it was not. */
    long queuedAt;

    /** The sequence number of the last annotation that had an effect. */
    long annotated;

    String annotation = "";

    MemoryClaim(long number, Acquire request, MemoryResource resource, MemorySession session) {
        super(number);
        this.ref = request.claim();
        this.resource = resource;
        this.session = session;
        this.lease = request.lease();
        this.weight = request.weight();
        this.tokensWanted = request.tokens();
    }

    boolean hasFixedLease() {
        return lease.binding() != Binding.SESSION;
    }

    /** Whether it survives the end of its session. */
    boolean isDetached() {
        return lease.binding() == Binding.DETACHED && pickedUp;
    }

    /** The microseconds until it ends if neither its session nor its lease is extended. */
    long microsLeft(long now) {
        if (!hasFixedLease() || !pickedUp) {
            return session.left(now);
        }
        return isDetached() ? left(now) : Math.min(left(now), session.left(now));
    }
}
