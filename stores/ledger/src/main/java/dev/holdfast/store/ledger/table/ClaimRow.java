package dev.holdfast.store.ledger.table;

import dev.holdfast.spi.ClaimRef;
import dev.holdfast.spi.Command.Acquire;
import dev.holdfast.spi.Lease;
import dev.holdfast.spi.Lease.Binding;
import dev.holdfast.spi.TokenBlock;
import dev.holdfast.spi.support.Micros;

/** A claim: its own row, or the inline grant in the row of its resource. */
public final class ClaimRow {

    public final ResourceRow resource;
    public final long session;
    public final long number;
    public final Binding binding;

    /** How many tokens it asked for. */
    public final int wanted;

    /** Its position among the waiters or the grants; 0 if it is inline or not stored. */
    public long place;

    public boolean isGranted;
    public int weight;

    /**
     * When its own lease ends, in microseconds of the store's clock; 0 if it has none. Until the claimant has picked up
     * the grant, the lease has not begun, and this is its negated length.
     */
    public long ends;

    /** The sequence number of the last extension that took effect. */
    public long seq;

    /**
     * When it was queued, in microseconds of the store's clock; 0 for a grant, and if an earlier version queued it. Its
     * row has it in the column of the sequence number, which others ignore while a claim waits.
     */
    public long queuedAt;

    /** The newest token block, while it is granted. */
    public long firstToken;

    public long endToken;

    public ClaimRow(ResourceRow resource, long session, long number, Binding binding, int wanted) {
        this.resource = resource;
        this.session = session;
        this.number = number;
        this.binding = binding;
        this.wanted = wanted;
    }

    /** A claim as requested. */
    public static ClaimRow of(ResourceRow resource, long session, Acquire request) {
        Lease lease = request.lease();
        ClaimRow claim = new ClaimRow(resource, session, request.claim().claim(), lease.binding(), request.tokens());
        claim.weight = request.weight();
        claim.ends = -Micros.of(lease.length());
        return claim;
    }

    /** The inline grant of a resource. */
    public static ClaimRow inline(ResourceRow resource) {
        Binding binding = resource.ends == 0 ? Binding.SESSION : Binding.BOUNDED;
        ClaimRow claim = new ClaimRow(resource, resource.session, resource.claim, binding, 1);
        claim.isGranted = true;
        claim.weight = resource.weight;
        claim.ends = resource.ends;
        claim.seq = resource.seq;
        claim.firstToken = resource.firstToken;
        claim.endToken = resource.endToken;
        return claim;
    }

    /** A copy of this claim that refers to another object of its resource. */
    public ClaimRow on(ResourceRow same) {
        ClaimRow claim = new ClaimRow(same, session, number, binding, wanted);
        claim.place = place;
        claim.isGranted = isGranted;
        claim.weight = weight;
        claim.ends = ends;
        return claim;
    }

    public ClaimRef ref() {
        return new ClaimRef(resource.name, SessionRow.idOf(session), number);
    }

    public TokenBlock tokens() {
        return new TokenBlock(firstToken, endToken);
    }

    public boolean isInline() {
        return isGranted && place == 0;
    }

    public boolean hasOwnLease() {
        return ends != 0;
    }

    /** Whether its own lease has expired. */
    public boolean isOver(long now) {
        return ends > 0 && ends <= now;
    }

    /** Whether it stays when its session ends. */
    public boolean outlivesSession() {
        return binding == Binding.DETACHED && isGranted && ends > 0;
    }

    /** Starts its own lease when the claimant first learns of the grant. Returns whether it began now. */
    public boolean pickUp(long now) {
        if (ends >= 0) {
            return false;
        }
        ends = now - ends;
        return true;
    }
}
