package dev.holdfast.store.register.machine;

import dev.holdfast.spi.ClaimRef;
import dev.holdfast.spi.Lease;
import dev.holdfast.spi.Lease.Binding;
import dev.holdfast.spi.SessionId;
import org.jspecify.annotations.Nullable;

/** A claim in the record of its resource. It waits until it has tokens, and then is a grant. Not thread-safe. */
final class ClaimEntry {

    final ClaimRef ref;
    final SessionEntry session;
    final Lease lease;

    /** How many tokens it requests. */
    final int want;

    int weight;

    /** Its newest block, relative to the base of the record; {@code first} is 0 while it waits. */
    long first;

    long last;

    /** Whether its own lease has begun, because its claimant knows of the grant. */
    boolean pickedUp;

    /** The sequence number of the last extension that had an effect. */
    long extension;

    /** When its own lease ends, by the server's clock in microseconds; 0 if it has none or the server keeps it. */
    long endsAt;

    /** When it was queued, in microseconds; 0 for a grant, and if an earlier version of the program queued it. */
    long queuedAt;

    /** Its own lease, where the server keeps it. */
    @Nullable
    SessionId leaseId;

    ClaimEntry(ClaimRef ref, SessionEntry session, Lease lease, int weight, int want) {
        this.ref = ref;
        this.session = session;
        this.lease = lease;
        this.weight = weight;
        this.want = want;
    }

    boolean isHeld() {
        return first > 0;
    }

    boolean hasOwnLease() {
        return lease.binding() != Binding.SESSION;
    }

    /** Whether it continues after the end of its session. */
    boolean outlivesSession() {
        return lease.binding() == Binding.DETACHED && pickedUp;
    }
}
