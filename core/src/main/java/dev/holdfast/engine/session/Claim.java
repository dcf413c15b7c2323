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
     * @param newestRequest the newest request of its resource, for a pass or a batch: see {@link Claim#covers}
     * @param replaces the grant that it replaces by a yield; null if there is none
     * @param replacesAnnotated whether that grant was annotated
     */
    public record Terms(
            Lease lease,
            int weight,
            Waiting waiting,
            long newestRequest,
            @Nullable ClaimRef replaces,
            boolean replacesAnnotated) {}

    /** What its listener knows about it: what waits for it, or the grant that it has become. */
    public interface Attachment {}

    public final ClaimRef ref;
    public final Session session;

    /** Its own lease; null if it has only the session's. Most claims have none, and keep nothing for it. */
    public final @Nullable FixedLeaseState fixedLease;

    private final ClaimListener listener;
    private final @Nullable ClaimRef replaces;
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

    /** Failures in a row. */
    private int failures;

    private int commandsInFlight;

    /** When the newest command about it was sent or answered. */
    private long touchedAt;

    private boolean wasAnswered;

    /** Its only sending had no effect, so there is nothing to withdraw. */
    private boolean wasNeverMade;

    /** A signal about it arrived before the answer that it is queued, so that answer is not the newest. */
    private boolean isOvertaken;

    /** It has been in the store's queue. Guarded by the lock of the poller. */
    private boolean hasWaited;

    // ---- Passes

    /**
     * A pass serves only requests that waited here while its claim waited at the store: others may have come after
     * the latch was set again. With strict order, a grant serves those that waited here when its claim was sent, before
     * others have their turn. Their numbers go up to this.
     */
    private long newestServed;

    /** A poll is in flight that may let it serve more requests; until it is answered, a pass is kept for them. */
    private boolean isCovering;

    /** How often in a row such a poll has failed. */
    private int coverFailures;

    public Claim(ClaimListener listener, ClaimRef ref, Session session, Terms terms, long now) {
        this.listener = listener;
        this.ref = ref;
        this.session = session;
        this.fixedLease = terms.lease().binding() == Lease.Binding.SESSION ? null : new FixedLeaseState(terms.lease());
        this.weight = terms.weight();
        this.isTry = terms.waiting() == Waiting.TRY;
        this.newestServed = terms.newestRequest();
        this.replaces = terms.replaces();
        this.replacesAnnotated = terms.replacesAnnotated();
        this.touchedAt = now;
    }

    // ---- What it asks for

    ClaimListener listener() {
        return listener;
    }

    /** The lock that guards it. */
    public ReentrantLock lock() {
        return listener.guard();
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

    /** The grant that it replaces by a yield. */
    @Nullable
    ClaimRef replaces() {
        return replaces;
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
        commandsInFlight++;
        touchedAt = now;
    }

    int sendings() {
        return sendings;
    }

    int failures() {
        return failures;
    }

    void countFailure() {
        failures++;
    }

    /** The store has answered a command about it. */
    void noteAnswer(long now) {
        endCommand(now);
        wasAnswered = true;
        failures = 0;
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
        commandsInFlight = Math.max(0, commandsInFlight - 1);
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
        return commandsInFlight > 0;
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
    public boolean covers(long number) {
        return number <= newestServed;
    }

    /** The requests of its batch have left. */
    public void endBatch() {
        newestServed = 0;
    }

    /**
     * A poll begins that may let it serve more requests.
     *
     * @return false if one is in flight
     */
    public boolean beginCovering() {
        boolean isFirst = !isCovering;
        isCovering = true;
        return isFirst;
    }

    public boolean isCovering() {
        return isCovering;
    }

    /** The poll has shown that it was waiting at the store while these requests waited here. */
    void cover(long newestRequest) {
        newestServed = Math.max(newestServed, newestRequest);
    }

    /** The poll is answered. */
    void endCovering() {
        isCovering = false;
        coverFailures = 0;
    }

    /** The poll will be repeated. */
    void repeatCovering() {
        isCovering = false;
    }

    /** Counts a failed poll; returns how many failed before it. */
    int countCoverFailure() {
        return coverFailures++;
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
