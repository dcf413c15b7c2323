package dev.holdfast.engine.session;

import dev.holdfast.Loss;
import dev.holdfast.engine.execution.DeferredActions;
import dev.holdfast.spi.ClaimRef;
import dev.holdfast.spi.Lease;
import dev.holdfast.spi.Reply;
import dev.holdfast.spi.ResourceSpec;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A claim on its way through the store, from the first sending to its end; a granted one is a grant. Guarded by
 * {@link #lock()}, but for what is volatile. What follows from an answer is decided by its resource, which is asked by
 * the abstract methods.
 */
public abstract class Claim {
    public enum State {
        /** Sent, and not yet answered; the outcome may be unknown. */
        SENT,
        /** In the store's queue. */
        QUEUED,
        /** Granted, and with its resource. */
        HELD,
        /** Granted; a yield is under way, and no local hold is made before it is answered. */
        YIELDING,
        /** Not ours any more: released, withdrawn, refused, or lost. */
        OVER
    }

    /** Why a claim was not granted, and whom that concerns. */
    public enum Denial {
        /** Others have or want the resource. */
        TAKEN,
        /** It asks for more than there is: so do requests for as much or more. */
        TOO_HEAVY,
        /** It was not made, for a reason that holds for every claim of its resource. */
        REFUSED,
        /** The store does not answer, for a reason that holds for every claim of its resource. */
        UNREACHABLE
    }

    public final ClaimRef ref;
    public final Session session;
    final Lease lease;

    /** What is known of its own lease; null if it has only the session's. */
    public final @Nullable FixedLeaseState own;

    /** Goes past the claim that waits here: it is tried once, and takes no place in the store's queue. */
    public boolean isBarging;

    /** How much of the capacity it asks for, or has. Lowered before the store is told to. */
    public int weight;

    /**
     * A pass claim serves only requests that waited here while it waited at the store, for others may have come after
     * the latch was set anew: their numbers go up to this. At first those that were there when the claim was sent, and
     * from then on those that were there when a poll was sent that found it waiting.
     */
    private long newestServed;

    /** A poll is on its way that may let it serve more requests; until it is answered, a pass is kept for them. */
    public boolean isCovering;

    /** How often in a row such a poll has failed. */
    int coverFailures;

    public volatile State state = State.SENT;

    /** Nobody wants it any more: it is withdrawn as soon as its outcome allows. Never turns false again. */
    public boolean isDead;

    /** Something was pushed about it before the answer whether it waits, which is thus not the newest. */
    boolean isOvertaken;

    /** The store has answered something about it. */
    public boolean wasAnswered;

    /** The withdrawal or release is with the release retrier. */
    public boolean isSettling;

    /**
     * What was pushed against it; null if nothing ever was. What is pushed from then on is polled before it is
     * believed. Set under the lock of the resource.
     */
    volatile @Nullable PendingRevocation contradiction;

    /** What the store said of those who have the resource, when it refused this claim; for people. */
    public @Nullable String refusal;

    /** Its only sending had no effect, so that there is nothing to withdraw. */
    public boolean wasNeverMade;

    /** Failures in a row. */
    int failures;

    /** When the newest command about it was sent or answered; and how many are on their way. For the audit. */
    public long settledAt;

    public int underWay;

    /** How often it was sent. */
    int sendings;

    /** When to poll it at the latest, while it is queued, and from when on it goes along with others. */
    long pollBy;

    long pollFrom;

    public Claim(ClaimRef ref, Session session, Lease lease, int weight, long newestServed) {
        this.ref = ref;
        this.session = session;
        this.lease = lease;
        this.own = lease.binding() == Lease.Binding.SESSION
                ? null
                : new FixedLeaseState(lease.length().toNanos());
        this.weight = weight;
        this.newestServed = newestServed;
    }

    // ---- What its resource tells

    /** The partition of the store that it belongs to. */
    public abstract Partition partition();

    /** The lock that guards it. */
    public abstract ReentrantLock lock();

    public abstract ResourceSpec spec();

    /** Whether it was made for somebody who does not wait. */
    public abstract boolean isTry();

    /** The grant that it replaces by a yield, until that is answered. */
    public abstract @Nullable ClaimRef replacedRef();

    /** The number of the newest request that waits for its resource. */
    public abstract long newestRequest();

    // ---- What its resource does about an answer, under the lock

    /** It was granted. */
    public abstract void granted(Reply.Granted reply, DeferredActions out);

    /** It stands in the store's queue. */
    public abstract void queued(DeferredActions out);

    /**
     * It was not granted, and what waits for it fails, or some of it.
     *
     * @param why the failure; null if others have or want the resource, which is none
     */
    public abstract void notGranted(Denial how, @Nullable Supplier<RuntimeException> why, DeferredActions out);

    /** The store does not know it. */
    public abstract void vanished(DeferredActions out);

    /** A fresh token block; or none, where the store has no more. */
    public abstract void advanced(Reply.@Nullable Advanced reply, DeferredActions out);

    /** It is dead, and can have no effect any more. */
    public abstract void withdraw(DeferredActions out);

    /** A question about it has failed. */
    public abstract void pollFailed();

    /** Does what the present state asks for, after anything has changed. */
    public abstract void react(DeferredActions out);

    // ---- What its resource does without the lock

    /** Does something under the lock, and what follows from it afterwards. */
    public abstract void step(Consumer<DeferredActions> what);

    /** Ends a grant for a cause that the client found. */
    public abstract void end(Loss.Cause cause);

    // ---- Its course

    /** It is about to be sent, for the first time or again. */
    void beginSending(long now) {
        sendings++;
        wasNeverMade = false;
        underWay++;
        settledAt = now;
    }

    /** It was waiting at the store when these requests waited here. */
    void cover(long newest) {
        newestServed = Math.max(newestServed, newest);
    }

    /** Whether a request of this number waited here while this claim waited at the store. */
    public boolean covers(long number) {
        return number <= newestServed;
    }

    /** Whether only its own lease ends it, once it is granted. */
    public boolean isDetached() {
        return lease.binding() == Lease.Binding.DETACHED;
    }

    /** The lease of its own that may last beyond its session; null if none does. */
    @Nullable
    public FixedLeaseState outliving() {
        return isDetached() ? own : null;
    }

    // ---- What the store said

    /** A signal speaks against it. Called under the lock of the resource. */
    void contradict() {
        PendingRevocation present = contradiction;
        if (present == null) {
            present = new PendingRevocation();
            contradiction = present;
        }
        present.hear();
    }

    /** How much has been pushed against it: to be noted before the store is asked. */
    long contradictions() {
        PendingRevocation present = contradiction;
        return present == null ? 0 : present.heard();
    }

    /** The store has confirmed the grant, asked when so much had been pushed against it. */
    void settleContradictions(long heardWhenAsked) {
        PendingRevocation present = contradiction;
        if (present != null) {
            present.settle(heardWhenAsked);
        }
    }

    /** Whether what was pushed against it has not been looked into. */
    boolean isContradicted() {
        PendingRevocation present = contradiction;
        return present != null && present.isOpen();
    }

    /** How long it lasts without renewal, once it is granted. */
    public long leaseNanos() {
        long ofSession = session.ttlNanos;
        if (own == null) {
            return ofSession;
        }
        return isDetached() ? own.lengthNanos : Math.min(own.lengthNanos, ofSession);
    }

    /** Whether its lease is surely over at the store too, whose clock may be slower. */
    public boolean isOverAtStoreBy(long now) {
        return (!isDetached() && session.isOverBy(now)) || (own != null && own.isPastBy(now));
    }

    /** When a hold under it must end, by the present leases. */
    public long deadline() {
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
}
