package dev.holdfast.engine.session;

import dev.holdfast.Loss;
import dev.holdfast.engine.execution.DeferredActions;
import dev.holdfast.spi.ClaimRef;
import dev.holdfast.spi.Command.Waiting;
import dev.holdfast.spi.Lease;
import dev.holdfast.spi.ResourceSpec;
import dev.holdfast.spi.StoreException.Effect;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A claim at the store, from its first sending to its end. It records what was sent and answered; its
 * {@linkplain ClaimListener listener} decides what follows. Guarded by the lock of its resource, except for what is
 * volatile or never changes.
 */
public final class Claim {
    public enum State {
        /** Sent, and not yet answered; the outcome may be unknown. */
        SENT,
        /** In the store's queue. */
        QUEUED,
        /** Granted, and accepted by its resource. */
        HELD,
        /** Granted; a yield is in flight, and no local hold is made before its answer. */
        YIELDING,
        /** Released, withdrawn, refused, or lost. */
        OVER
    }

    /** Why a claim was not granted, which decides which requests end. */
    public enum Denial {
        /** Others have or want the resource. */
        TAKEN,
        /** It asks for more than there is: requests for as much or more end. */
        TOO_HEAVY,
        /** It was not made, for a reason that applies to every claim of its resource. */
        REFUSED,
        /** The store does not answer, for a reason that applies to every claim of its resource. */
        UNREACHABLE
    }

    /**
     * What a claim asks for.
     *
     * @param weight how much of the capacity
     * @param waiting whether it queues at the store, or is tried once
     * @param coverage the requests that it serves if it is a pass, or first in strict order; null for others
     * @param replacesAnnotated whether the grant that it replaces by a yield was annotated
     */
    public record Terms(
            Lease lease,
            int weight,
            Waiting waiting,
            @Nullable PassCoverage coverage,
            boolean replacesAnnotated) {}

    /** What its listener knows about it: what waits for it, or the grant that it has become. */
    public interface Attachment {

        /** The grant that it replaces by a yield, until that is answered; null if there is none. */
        default @Nullable ClaimRef replaces() {
            return null;
        }
    }

    public final Session session;

    /** Its own lease; null if it has only the session's. Most claims have none, and keep nothing for it. */
    public final @Nullable FixedLeaseState fixedLease;

    /** Its number in its session. The rest of its identity is not copied here. */
    private final long number;

    private final ClaimListener listener;

    /** Null unless it is a pass or has a batch. */
    private @Nullable PassCoverage coverage;

    private final boolean isTry;
    private final boolean replacesAnnotated;

    private @Nullable Attachment attachment;
    private volatile State state = State.SENT;

    /** How much of the capacity it asks for, or has. Lowered before the store is told to. */
    private int weight;

    /** No request wants it: it is withdrawn as soon as its outcome allows. Never becomes false again. */
    private boolean isDead;

    /** The withdrawal or release is with the release retrier. */
    private boolean isSettling;

    /** Whether it was annotated at the store. */
    private boolean isAnnotated;

    /**
     * What was pushed against it; null if nothing ever was. From then on a pushed grant is polled before it is
     * believed. Written under the lock.
     */
    private volatile @Nullable PendingRevocation pendingRevocation;

    // ---- Its commands, for the driver and the audit

    private int sendings;

    private boolean isCommandInFlight;

    /** When the newest command about it was sent or answered. */
    private long touchedAt;

    private boolean wasAnswered;

    /** Its only sending had no effect, so there is nothing to withdraw. */
    private boolean wasNeverMade;

    /** A signal about it arrived before the answer that it is queued, so that answer is not the newest. */
    private boolean isOvertaken;

    /** It has been in the store's queue. Guarded by the lock of the poller. */
    private boolean hasWaited;

    public Claim(ClaimListener listener, long number, Session session, Terms terms, long now) {
        this.listener = listener;
        this.number = number;
        this.session = session;
        this.fixedLease = terms.lease().binding() == Lease.Binding.SESSION ? null : new FixedLeaseState(terms.lease());
        this.weight = terms.weight();
        this.isTry = terms.waiting() == Waiting.TRY;
        this.coverage = terms.coverage();
        this.replacesAnnotated = terms.replacesAnnotated();
        this.touchedAt = now;
    }

    // ---- What it asks for

    /** Its identity: a new object with each call. */
    public ClaimRef ref() {
        return new ClaimRef(listener.resourceName(), session.id, number);
    }

    /** Whether this is the identity of the claim, which is one of its resource. */
    public boolean is(ClaimRef ref) {
        return number == ref.claim() && session.id.equals(ref.session());
    }

    ClaimListener listener() {
        return listener;
    }

    /** The lock that guards it. */
    public ReentrantLock lock() {
        return listener.guard();
    }

    /** The name of its resource. */
    String name() {
        return listener.resourceName().value();
    }

    ResourceSpec spec() {
        return listener.spec();
    }

    Lease lease() {
        return fixedLease == null ? Lease.SESSION : fixedLease.lease();
    }

    Waiting waiting() {
        return isTry ? Waiting.TRY : Waiting.QUEUE;
    }

    /** The grant that it replaces by a yield; null if there is none. */
    @Nullable
    ClaimRef replaces() {
        Attachment present = attachment;
        return present == null ? null : present.replaces();
    }

    boolean replacesAnnotated() {
        return replacesAnnotated;
    }

    /** Whether it was annotated at the store, which is told so when it ends. */
    public boolean isAnnotated() {
        return isAnnotated;
    }

    /** An annotation is about to be sent. */
    public void noteAnnotated() {
        isAnnotated = true;
    }

    /** How much of the capacity it asks for, or has. */
    public int weight() {
        return weight;
    }

    /** It keeps only part of its weight. */
    public void shrinkTo(int less) {
        weight = less;
    }

    @Nullable
    public Attachment attachment() {
        return attachment;
    }

    public void attach(@Nullable Attachment next) {
        attachment = next;
    }

    /** Changes something under the lock, and does afterwards what follows from it. */
    void step(Consumer<DeferredActions> change) {
        DeferredActions deferred = new DeferredActions();
        lock().lock();
        try {
            change.accept(deferred);
        } finally {
            lock().unlock();
            deferred.send();
        }
    }

    // ---- Its life

    public State state() {
        return state;
    }

    public boolean isSent() {
        return state == State.SENT;
    }

    public boolean isQueued() {
        return state == State.QUEUED;
    }

    public boolean isHeld() {
        return state == State.HELD;
    }

    public boolean isYielding() {
        return state == State.YIELDING;
    }

    /** The store has queued it. */
    public void queue() {
        if (state == State.SENT) {
            state = State.QUEUED;
        }
    }

    /** Its resource has accepted the grant. */
    public void hold() {
        state = State.HELD;
    }

    /** Its grant is being exchanged for a place in the store's queue. */
    public void beginYield() {
        state = State.YIELDING;
    }

    /** Nothing is believed of it any more. */
    public void end() {
        state = State.OVER;
        isDead = true;
    }

    /** No request wants it. If its outcome is known, it ends with this; otherwise with the outcome. */
    public void kill() {
        isDead = true;
        if (isOutcomeKnown()) {
            state = State.OVER;
        }
    }

    public boolean isDead() {
        return isDead;
    }

    /** Whether the store has said what became of its first sending. */
    public boolean isOutcomeKnown() {
        return state != State.SENT || wasAnswered;
    }

    public boolean wasNeverMade() {
        return wasNeverMade;
    }

    /**
     * Its withdrawal or release begins.
     *
     * @return false if it began before
     */
    public boolean beginSettling() {
        boolean isFirst = !isSettling;
        isSettling = true;
        return isFirst;
    }

    boolean isSettling() {
        return isSettling;
    }

    // ---- Its commands

    /** It is about to be sent, for the first time or again. */
    void beginSending(long now) {
        sendings++;
        wasNeverMade = false;
        isCommandInFlight = true;
        touchedAt = now;
    }

    int sendings() {
        return sendings;
    }

    /** The store has answered a command about it. */
    void noteAnswer(long now) {
        endCommand(now);
        wasAnswered = true;
    }

    /**
     * A command about it has ended without an answer that counts.
     *
     * @param effect what the command may have done
     */
    void noteFailure(Effect effect, long now) {
        endCommand(now);
        wasNeverMade = effect == Effect.NONE && sendings == 1;
    }

    void endCommand(long now) {
        isCommandInFlight = false;
        touchedAt = now;
    }

    /** A command about it was sent or answered. */
    void touch(long now) {
        touchedAt = now;
    }

    /** Whether the store has answered anything about it. */
    public boolean wasAnswered() {
        return wasAnswered;
    }

    /** Whether nothing about it was sent or answered since a time. */
    public boolean isUntouchedSince(long time) {
        return touchedAt - time < 0;
    }

    public boolean hasCommandInFlight() {
        return isCommandInFlight;
    }

    /** A signal about it arrived. Notes whether that was before the first answer. */
    void noteSignal() {
        isOvertaken = state == State.SENT;
    }

    /** Whether a signal has overtaken the answer that it is queued; not again afterwards. */
    boolean takeOvertaken() {
        boolean was = isOvertaken;
        isOvertaken = false;
        return was;
    }

    /** Notes that it is in the store's queue; whether it is for the first time. Called under the lock of the poller. */
    boolean beginWaiting() {
        boolean isFirst = !hasWaited;
        hasWaited = true;
        return isFirst;
    }

    // ---- Passes and batches

    /** Whether a request of this number waited here when this claim was sent, or for a pass, while it waited. */
    public boolean covers(long request) {
        return coverage != null && coverage.includes(request);
    }

    /** The requests of its batch have left. */
    public void endBatch() {
        coverage = null;
    }

    /** Whether a poll is in flight that may let it serve more requests. */
    public boolean isCovering() {
        return coverage != null && coverage.isPolling();
    }

    /** The requests that it serves if it is a pass, or first in strict order; null for others. */
    @Nullable
    public PassCoverage coverage() {
        return coverage;
    }

    // ---- Signals against it

    /** A signal says that it was revoked. */
    void revocationSignalled() {
        PendingRevocation present = pendingRevocation;
        if (present == null) {
            present = new PendingRevocation();
            pendingRevocation = present;
        }
        present.add();
    }

    /** How many signals there were against it: to be noted before the store is asked. */
    long revocationSignals() {
        PendingRevocation present = pendingRevocation;
        return present == null ? 0 : present.count();
    }

    /** The store has confirmed the grant, asked after so many signals. */
    void settleRevocations(long countWhenAsked) {
        PendingRevocation present = pendingRevocation;
        if (present != null) {
            present.settle(countWhenAsked);
        }
    }

    /** Whether there was a signal against it that the store was not asked about. */
    boolean isRevocationPending() {
        PendingRevocation present = pendingRevocation;
        return present != null && present.isOpen();
    }

    /** Whether there was ever a signal against it. */
    boolean hasRevocationSignals() {
        return pendingRevocation != null;
    }

    // ---- Its leases

    /** Whether only its own lease ends it, once it is granted. */
    public boolean isDetached() {
        return fixedLease != null && fixedLease.lease().binding() == Lease.Binding.DETACHED;
    }

    /** The lease of its own that may last beyond its session; null if it has none. */
    @Nullable
    public FixedLeaseState outlivingLease() {
        return isDetached() ? fixedLease : null;
    }

    /** How long it lasts without renewal, once it is granted. */
    public long leaseNanos() {
        long ofSession = session.ttlNanos;
        if (fixedLease == null) {
            return ofSession;
        }
        return isDetached() ? fixedLease.lengthNanos() : Math.min(fixedLease.lengthNanos(), ofSession);
    }

    /** The client has found that the grant has ended. Called without the lock. */
    public void expire(Loss.Cause cause) {
        listener.expired(this, cause);
    }

    /** Whether its lease has certainly ended at the store too, whose clock may be slower. */
    public boolean hasEndedAtStore(long now) {
        return (!isDetached() && session.hasEndedAtStore(now))
                || (fixedLease != null && fixedLease.hasEndedAtStore(now));
    }

    /** When a hold under it must end, by the present leases. */
    public long deadline() {
        long ofSession = session.deadline();
        if (fixedLease == null) {
            return ofSession;
        }
        long ofFixedLease = fixedLease.deadline();
        if (isDetached() && state == State.HELD) {
            return ofFixedLease;
        }
        return ofFixedLease - ofSession < 0 ? ofFixedLease : ofSession;
    }
}
