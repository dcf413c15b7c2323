package dev.holdfast.store.register.machine;

import dev.holdfast.spi.ClaimRef;
import dev.holdfast.spi.Command.Acquire;
import dev.holdfast.spi.ResourceSpec;
import dev.holdfast.spi.TokenBlock;
import dev.holdfast.spi.support.Tokens;
import dev.holdfast.store.register.SessionRecord;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The elementary changes of the state of a resource. {@link CommandExecutor} composes commands of them. Not
 * thread-safe.
 */
final class Moves {

    final ResourceState state;
    final Facts facts;

    /** The base of the tokens of the record; 0 if they are absolute or there is no record yet. */
    private final long base;

    /** How many tokens this step may still reserve. It bounds how far tokens get ahead of the revisions. */
    private long budget;

    /**
     * How many waiters this step may still grant, and how many expired claims of living sessions it may still end,
     * because the changes of a write are limited. The next step continues.
     */
    private int room;

    final List<Notice> notices = new ArrayList<>(0);

    /** Whether a token was reserved. */
    boolean hasReserved;

    /**
     * Begins with a state.
     *
     * @param budget how many tokens may be reserved, each grant gets one at least
     * @param room how many waiters may be granted and expired claims ended
     */
    Moves(ResourceState state, Facts facts, long base, long budget, int room) {
        this.state = state;
        this.facts = facts;
        this.base = base;
        this.budget = budget;
        this.room = room;
    }

    long base() {
        return base;
    }

    /** Drops the claims that have ended, and grants those that then fit. */
    void expire() {
        List<ClaimEntry> over = new ArrayList<>(0);
        state.forEach(claim -> {
            if (isOver(claim)) {
                over.add(claim);
            }
        });
        for (ClaimEntry claim : over) {
            if (facts.isGone(claim.session.id())) {
                state.remove(claim); // its index has ended with its session, and it gets no mail
            } else if (room > 0) {
                room--;
                state.remove(claim);
                if (isTooHeavy(claim)) {
                    notices.add(Notice.of(claim, Notice.Kind.CHANGED));
                }
            }
        }
        settle();
    }

    /** Whether a claim has ended, though it may still be in the record. */
    private boolean isOver(ClaimEntry claim) {
        boolean ended = !claim.outlivesSession() && facts.isGone(claim.session.id());
        boolean leaseEnded = claim.leaseId != null && facts.isGone(claim.leaseId);
        return ended || leaseEnded || (claim.endsAt != 0 && claim.endsAt <= facts.earliest()) || isTooHeavy(claim);
    }

    /** Whether a claim waits for more than the capacity, which was lowered. */
    private boolean isTooHeavy(ClaimEntry claim) {
        return !claim.isHeld() && claim.weight > state.capacity;
    }

    /** Finds a claim that has not ended. */
    @Nullable
    ClaimEntry claimOf(ClaimRef ref) {
        ClaimEntry claim = state.claim(ref);
        if (claim != null && isOver(claim)) {
            drop(claim);
            settle();
            return null;
        }
        return claim;
    }

    /** Grants the claims at the head of the queue that fit, and drops the declaration of an unused resource. */
    void settle() {
        List<ClaimEntry> admitted = new ArrayList<>(0);
        ResourceSpec spec = state.declared;
        while (canAdmit(spec) && room > 0) {
            room--;
            ClaimEntry head = state.queue.values().iterator().next();
            state.queue.remove(head.ref);
            if (grant(head)) {
                admitted.add(head);
            } else {
                notices.add(Notice.of(head, Notice.Kind.CHANGED));
            }
        }
        for (ClaimEntry claim : admitted) {
            notices.add(
                    claim.hasOwnLease()
                            ? Notice.of(claim, Notice.Kind.CHANGED)
                            : new Notice(claim.ref, Notice.Kind.GRANTED, claim.first, claim.last, isAwaited()));
        }
        if (!state.isInUse()) {
            state.declared = null;
        }
    }

    private boolean canAdmit(@Nullable ResourceSpec spec) {
        return spec != null
                && !state.queue.isEmpty()
                && state.fits(spec, state.queue.values().iterator().next().weight);
    }

    /** Whether there are more waiters to grant or claims to end than one write can change. */
    boolean isUnfinished() {
        boolean[] isOver = {false};
        state.forEach(claim -> isOver[0] |= isOver(claim));
        return isOver[0] || canAdmit(state.declared);
    }

    boolean isAwaited() {
        return !state.queue.isEmpty() || facts.areOthersAnnounced();
    }

    ClaimEntry claim(Acquire request) {
        SessionRecord session = facts.session(request.claim().session());
        SessionEntry entry = session == null
                ? new SessionEntry(request.claim().session(), "", 1)
                : new SessionEntry(request.claim().session(), session.label(), Micros.roundedUp(session.ttl()));
        return new ClaimEntry(request.claim(), entry, request.lease(), request.weight(), request.tokens());
    }

    /** Makes a claim a grant; returns false, without a change, if the tokens are used up. */
    boolean grant(ClaimEntry claim) {
        if (!reserve(claim, 0, claim.want)) {
            return false;
        }
        state.grants.put(claim.ref, claim);
        return true;
    }

    /** Gives a grant the next block of tokens, above a number; returns false if the tokens are used up. */
    boolean reserve(ClaimEntry claim, long atLeast, int want) {
        long last = Math.max(state.lastToken, atLeast);
        if (isSpent(last)) {
            return false;
        }
        if (facts.serverKeepsLeases()) {
            claim.first = last + 1;
            claim.last = Math.min(last + Math.min(want, Math.max(1, budget)), TokenBlock.MAX_TOKEN - base);
        } else {
            TokenBlock block = Tokens.next(last, facts.earliest(), want);
            claim.first = block.first();
            claim.last = block.last();
        }
        budget -= claim.last - claim.first + 1;
        state.lastToken = claim.last;
        hasReserved = true;
        return true;
    }

    boolean isSpent(long last) {
        return base + last >= TokenBlock.MAX_TOKEN || Tokens.floor(facts.earliest()) > TokenBlock.MAX_TOKEN;
    }

    /** Notes that the claimant knows of its grant: its own lease begins, once. */
    void pickUp(ClaimEntry claim) {
        if (claim.hasOwnLease() && !claim.pickedUp) {
            claim.pickedUp = true;
            lease(claim, 0, claim.lease.length());
        }
    }

    void extend(ClaimEntry grant, long seq, Duration length) {
        grant.extension = seq;
        lease(grant, seq, length);
    }

    private void lease(ClaimEntry claim, long seq, Duration length) {
        if (facts.serverKeepsLeases()) {
            claim.leaseId = facts.lease(new Facts.LeaseKey(claim.ref, seq, length));
        } else {
            claim.endsAt = facts.latest() + Micros.roundedUp(length);
        }
    }

    @Nullable
    ClaimEntry grantOf(ClaimRef ref) {
        ClaimEntry claim = claimOf(ref);
        return claim != null && claim.isHeld() ? claim : null;
    }

    void drop(ClaimEntry claim) {
        state.remove(claim);
    }
}
