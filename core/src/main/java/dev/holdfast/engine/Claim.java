package dev.holdfast.engine;

import dev.holdfast.spi.ClaimRef;
import dev.holdfast.spi.Kind;
import dev.holdfast.spi.Lease;
import dev.holdfast.spi.TokenBlock;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
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
    private @Nullable Request bound;

    /** Goes past the claim that waits here: it is tried once, and takes no place in the store's queue. */
    boolean isBarging;

    /** How much of the capacity it asks for, or has. Lowered before the store is told to. */
    int weight;

    /**
     * A pass claim serves only requests that waited here while it waited at the store, for others may have come after
     * the latch was set anew: their numbers go up to this. At first those that were there when the claim was sent, and
     * from then on those that were there when a poll was sent that found it waiting.
     */
    private long newestServed;

    /** A poll is on its way that may let it serve more requests; until it is answered, a pass is kept for them. */
    boolean isCovering;

    /** How often in a row such a poll has failed. */
    int coverFailures;

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
     * Somebody knows it by its id: it serves nobody else from then on, so that the id never names another's permits.
     */
    boolean isNamed;

    /** A look is set whether those who share a grant for more than they need are to leave room for others. */
    boolean isToLeaveRoom;

    /**
     * What was pushed against it; null if nothing ever was. What is pushed from then on is polled before it is
     * believed. Set under the lock of the gate.
     */
    volatile @Nullable Contradiction contradiction;

    /** Failures in a row. */
    int failures;

    /** How many local holds were made under it; begins again at 1 when there are too many to count. */
    int served;

    /** The local hold that is alone under this grant; null if there is none. */
    private @Nullable LocalHold tenant;

    /** The local holds that share this grant, by their owners; null before the first. */
    private @Nullable Map<Object, LocalHold> sharers;

    /** Two held at the same time. */
    boolean wasShared;

    /** Whose turn it is; null before it was first passed on. */
    @Nullable
    Turn turn;

    // The place among the gate's grants.
    @Nullable
    Claim previousGrant;

    @Nullable
    Claim nextGrant;

    long tokenCursor;
    long tokenEnd;

    /** The newest token that a hold has under it; the cursor may be before a block of which none was taken yet. */
    long newestToken;

    /** When the newest command about it was sent or answered; and how many are on their way. For the audit. */
    long settledAt;

    int underWay;

    /** How often it was sent. */
    int sendings;

    /** When to poll it at the latest, while it is queued, and from when on it goes along with others. */
    long pollBy;

    long pollFrom;

    @Nullable
    Cohort cohort;

    Claim(
            Gate gate,
            ClaimRef ref,
            Session session,
            Lease lease,
            @Nullable Request bound,
            int weight,
            long newestServed) {
        this.gate = gate;
        this.ref = ref;
        this.session = session;
        this.lease = lease;
        this.own = lease.binding() == Lease.Binding.SESSION
                ? null
                : new OwnLease(lease.length().toNanos());
        this.bound = bound;
        this.weight = weight;
        this.newestServed = newestServed;
    }

    /** It is about to be sent, for the first time or again. */
    void beginSending(long now) {
        sendings++;
        underWay++;
        settledAt = now;
    }

    /** It was waiting at the store when these requests waited here. */
    void cover(long newest) {
        newestServed = Math.max(newestServed, newest);
    }

    /** Whether a request waited here while this claim waited at the store. */
    boolean covers(Request request) {
        return request.number <= newestServed;
    }

    /** Whether only its own lease ends it, once it is granted. */
    boolean isDetached() {
        return lease.binding() == Lease.Binding.DETACHED;
    }

    /** The lease of its own that may last beyond its session; null if none does. */
    @Nullable
    OwnLease outliving() {
        return isDetached() ? own : null;
    }

    /** Whether it serves one request only. */
    boolean isBound() {
        return bound != null;
    }

    /** The request for which it goes past the claim that waits; null if it does not, and once that has it. */
    @Nullable
    Request bargesFor() {
        return isBarging && isIdle() ? bound : null;
    }

    /** Whether it was made for somebody who does not wait. */
    boolean isTry() {
        return bound != null && bound.isTry;
    }

    /** It was granted: unless it has a lease of its own it serves whoever is first from then on. */
    void open() {
        if (own == null) {
            bound = null;
        }
    }

    // ---- The local holds under a grant

    /** Whether a grant of this claim is what a request needs. */
    boolean suits(Request request) {
        if (bound != null || request.hasOwnLease()) {
            return bound == request;
        }
        Kind kind = gate.spec.kind();
        return switch (kind) {
            case READ_WRITE -> request.weight <= weight;
            case LATCH -> covers(request);
            case MUTEX, SEMAPHORE, ELECTION, TASK -> request.weight == weight;
        };
    }

    /** Whether a request that it suits can be served beside those who hold now. */
    boolean hasRoomFor(Request request) {
        return tenant == null && (sharers == null || sharers.isEmpty() || request.isShare());
    }

    boolean isIdle() {
        return tenant == null && (sharers == null || sharers.isEmpty());
    }

    @Nullable
    LocalHold tenant() {
        return tenant;
    }

    void take(LocalHold hold) {
        served = served == Integer.MAX_VALUE ? 1 : served + 1;
        if (hold.isShare()) {
            share(hold);
        } else {
            tenant = hold;
        }
    }

    void leave(LocalHold hold) {
        if (tenant == hold) {
            tenant = null;
        } else if (sharers != null) {
            sharers.remove(hold.key(), hold);
        }
    }

    /** Takes one who shares, who may have been alone here before. */
    void share(LocalHold hold) {
        tenant = null;
        if (sharers == null) {
            sharers = new LinkedHashMap<>();
        }
        sharers.put(hold.key(), hold);
        wasShared |= sharers.size() > 1;
    }

    /** The live hold of a thread under this grant. */
    @Nullable
    LocalHold holdOf(Thread thread) {
        if (tenant != null && tenant.owner == thread) {
            return tenant;
        }
        return sharers == null ? null : sharers.get(thread);
    }

    /** All live holds under this grant. */
    List<LocalHold> holds() {
        List<LocalHold> all = new ArrayList<>();
        if (tenant != null) {
            all.add(tenant);
        }
        if (sharers != null) {
            all.addAll(sharers.values());
        }
        return all;
    }

    // ---- Turns

    /** The turn under this grant, which is over if there was none. */
    Turn turn() {
        Turn present = turn;
        if (present == null) {
            present = new Turn();
            turn = present;
        }
        return present;
    }

    /** Whether someone has a turn that is not over. */
    boolean isTurn(long now) {
        return turn != null && !turn.isOver(now);
    }

    // ---- What the store said

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
        if (isDetached() && state == State.HELD) {
            return ofOwn;
        }
        return ofOwn - ofSession < 0 ? ofOwn : ofSession;
    }

    // ---- Tokens

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
        newestToken = tokenCursor;
        if (cohort != null) {
            cohort.use();
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
