package dev.holdfast.engine;

import dev.holdfast.spi.ClaimRef;
import dev.holdfast.spi.Lease;
import dev.holdfast.spi.TokenBlock;
import org.jspecify.annotations.Nullable;

/**
 * A claim as the client sees it, from the first sending to its end; a granted one is a grant. Guarded by the lock of
 * its gate, but for what is volatile.
 */
final class Claim {

    enum State {
        /** Sent, and not yet answered; the outcome may be unknown. */
        SENT,
        /** In the store's queue. */
        QUEUED,
        /** Granted, and with its gate. */
        HELD,
        /** Granted; a yield is under way, and no local hold is made before it is answered. */
        YIELDING,
        /** Not ours any more: released, withdrawn, refused, or lost. */
        OVER
    }

    final Gate gate;
    final ClaimRef ref;
    final Session session;
    final Lease lease;

    /** What is known of its own lease; null if it has only the session's. */
    final @Nullable OwnLease own;

    /** The one request that this claim serves; null if it serves whoever is first. */
    final @Nullable Request bound;

    /** The grant that this claim replaces by a yield, until that is answered. */
    @Nullable
    Claim replaces;

    volatile State state = State.SENT;

    /** Nobody wants it any more: it is withdrawn as soon as its outcome allows. Never turns false again. */
    boolean isDead;

    /** Something was pushed about it before the answer whether it waits, which is thus not the newest. */
    boolean isOvertaken;

    /** The store has answered something about it. */
    boolean wasAnswered;

    /** The withdrawal or release is with the settler. */
    boolean isSettling;

    /**
     * What was pushed against it; null if nothing ever was. What is pushed from then on is polled before it is
     * believed. Set under the lock of the gate.
     */
    volatile @Nullable Contradiction contradiction;

    /** The epoch of the newest sending. */
    long epoch;

    /** Failures in a row. */
    int failures;

    /** A local hold was made under it. */
    boolean wasServed;

    long tokenCursor;
    long tokenEnd;

    /** When the newest command about it was answered; and how many are on their way. For the audit. */
    long settledAt;

    int underWay;

    /** When to poll it at the latest, while it is queued. */
    long pollBy;

    @Nullable
    Cohort cohort;

    Claim(Gate gate, ClaimRef ref, Session session, Lease lease, @Nullable Request bound) {
        this.gate = gate;
        this.ref = ref;
        this.session = session;
        this.lease = lease;
        this.own = lease.binding() == Lease.Binding.SESSION
                ? null
                : new OwnLease(lease.length().toNanos());
        this.bound = bound;
    }

    boolean isShareable() {
        return bound == null;
    }

    /** A signal speaks against it. Called under the lock of the gate. */
    void contradict() {
        Contradiction present = contradiction;
        if (present == null) {
            present = new Contradiction();
            contradiction = present;
        }
        present.hear();
    }

    /** How much has been pushed against it: to be noted before the store is asked. */
    long contradictions() {
        Contradiction present = contradiction;
        return present == null ? 0 : present.heard();
    }

    /** The store has confirmed the grant, asked when so much had been pushed against it. */
    void settleContradictions(long heardWhenAsked) {
        Contradiction present = contradiction;
        if (present != null) {
            present.settle(heardWhenAsked);
        }
    }

    /** Whether what was pushed against it has not been looked into. */
    boolean isContradicted() {
        Contradiction present = contradiction;
        return present != null && present.isOpen();
    }

    /** When a hold under it must end, by the present leases. */
    long deadline() {
        long ofSession = session.deadline;
        if (own == null) {
            return ofSession;
        }
        long ofOwn = own.deadline;
        return ofOwn - ofSession < 0 ? ofOwn : ofSession;
    }

    /** Takes a block if it is newer than all it has had; the cursor never goes back. */
    void adopt(TokenBlock block) {
        if (block.first() <= blockEnd()) {
            return;
        }
        if (cohort != null && tokenCursor < tokenEnd) {
            cohort.spare = block;
        } else {
            tokenCursor = block.first() - 1;
            tokenEnd = block.last();
            if (cohort != null) {
                // Of a spare block that was not begun, all tokens are below these.
                cohort.spare = null;
            }
        }
    }

    /** The next token of its blocks, or 0 when they are spent. */
    long nextToken() {
        if (tokenCursor == tokenEnd && cohort != null && cohort.spare != null) {
            TokenBlock block = cohort.spare;
            cohort.spare = null;
            tokenCursor = block.first() - 1;
            tokenEnd = block.last();
        }
        if (tokenCursor == tokenEnd) {
            return 0;
        }
        tokenCursor++;
        if (cohort != null) {
            cohort.used++;
        }
        return tokenCursor;
    }

    /** Whether more than one local hold was made under it, others waiting here or at the store. */
    boolean wasPassedOn() {
        return cohort != null && cohort.used > 1;
    }

    /** The end of the newest block, by which an advance is guarded. */
    long blockEnd() {
        return cohort != null && cohort.spare != null ? cohort.spare.last() : tokenEnd;
    }

    /** How many tokens are left. */
    long tokensLeft() {
        return tokenEnd - tokenCursor + (cohort != null && cohort.spare != null ? cohort.spare.size() : 0);
    }
}
