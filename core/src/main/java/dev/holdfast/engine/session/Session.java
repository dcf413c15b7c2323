package dev.holdfast.engine.session;

import dev.holdfast.engine.execution.Failsafe;
import dev.holdfast.spi.SessionId;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/*
 * A session is alive until its deadline passes without a renewal, or until the store says that it has ended. After the
 * deadline it is abandoned: it is never renewed, no new command is sent under it, and no grant of it becomes a hold. It
 * never becomes alive again; the keeper opens the next one.
 */

/** A session as the client sees it. Written under the keeper's lock; the volatile fields are read by anyone. */
public final class Session {

    public enum State {
        ALIVE,
        /** Past its deadline; the store may still keep it. */
        ABANDONED,
        /** It has ended at the store. */
        ENDED
    }

    /** Waits for the epoch to be raised above the one under which a command of unknown outcome was sent. */
    private record Raise(long above, Runnable action) {}

    public final SessionId id;

    public final long ttlNanos;
    private final List<Raise> raises = new ArrayList<>();

    private volatile State state = State.ALIVE;
    private volatile long deadline;
    private volatile long epoch;

    /** How many steps of the wall clock had been seen when the newest acknowledged request was sent. */
    private volatile long clearedSteps;

    /** Signals that it has ended. */
    final PendingRevocation revocation = new PendingRevocation();

    /** Completed when the store accepts no new command of this session. */
    private final CompletableFuture<Void> retirement = new CompletableFuture<>();

    /** Its doubt was reported to listeners, and its end was not yet. */
    private boolean isDoubtReported;

    /** How many steps of the wall clock had been seen when the store was last asked because of a doubt. */
    private long askedSteps;

    /** The epoch that the next keep-alive carries. */
    private long wantedEpoch;

    /** The highest epoch in flight; 0 if none is known. */
    private long raisingTo;

    /** When the command that opened it was sent. */
    final long openedAt;

    /** When the newest acknowledged command was sent that opened or renewed it. */
    private volatile long acknowledgedAt;

    /** When the newest keep-alive was sent, answered or not: the store's ttl began no later. */
    private volatile long lastSent;

    public Session(SessionId id, long ttlNanos, long sentAt, long deadline, long clearedSteps) {
        this.id = id;
        this.ttlNanos = ttlNanos;
        this.openedAt = sentAt;
        this.lastSent = sentAt;
        this.acknowledgedAt = sentAt;
        this.deadline = deadline;
        this.clearedSteps = clearedSteps;
    }

    State state() {
        return state;
    }

    public boolean isAlive() {
        return state == State.ALIVE;
    }

    /** It is no longer alive. Called under the lock. */
    void end(State how) {
        state = how;
    }

    long deadline() {
        return deadline;
    }

    /** The epoch under which commands are sent: the highest one that the store has acknowledged. */
    public long epoch() {
        return epoch;
    }

    /**
     * Whether it has certainly ended at the store, by the clock alone: twice the ttl after the last command that may
     * have renewed it.
     */
    boolean isOverByNow(long now) {
        return state == State.ENDED || now - goneAt() > 0;
    }

    /** A keep-alive is about to be sent; returns the epoch that it carries. Called under the lock. */
    long beginKeepAlive(long now) {
        raisingTo = Math.max(wantedEpoch, epoch);
        lastSent = now;
        return raisingTo;
    }

    /** The outcome of the newest keep-alive is unknown. Called under the lock. */
    void keepAliveFailed() {
        raisingTo = 0;
    }

    /** Whether a keep-alive in flight raises the epoch above this one. Called under the lock. */
    boolean isRaising(long above) {
        return raisingTo > above;
    }

    /** The time since the newest keep-alive was sent. */
    long sinceKeepAlive(long now) {
        return now - lastSent;
    }

    /**
     * A keep-alive is acknowledged; an overtaken one changes nothing. Called under the lock.
     *
     * @param sentAt when it was sent
     * @param until the resulting deadline
     * @param raisedTo the epoch that it carried
     * @param steps how many steps of the wall clock had been seen when it was sent
     */
    void acknowledge(long sentAt, long until, long raisedTo, long steps) {
        if (until - deadline > 0) {
            deadline = until;
        }
        if (sentAt - acknowledgedAt > 0) {
            acknowledgedAt = sentAt;
        }
        epoch = Math.max(epoch, raisedTo);
        clearedSteps = Math.max(clearedSteps, steps);
    }

    /** Whether the wall clock has stepped since the newest acknowledged request was sent. */
    boolean inDoubt(long steps) {
        return clearedSteps != steps;
    }

    /** Notes that its doubt is reported; whether it has to be. Called under the lock. */
    boolean beginDoubt() {
        boolean isNew = isAlive() && !isDoubtReported;
        isDoubtReported |= isNew;
        return isNew;
    }

    /** Notes that its doubt is settled; whether it was reported. Called under the lock. */
    boolean endDoubt() {
        boolean wasReported = isDoubtReported;
        isDoubtReported = false;
        return wasReported;
    }

    /** Notes a question because of a doubt; whether none was asked since this many steps of the wall clock. */
    boolean askOnce(long steps) {
        boolean isNew = askedSteps != steps;
        askedSteps = steps;
        return isNew;
    }

    /** The time since the newest acknowledged command was sent that opened or renewed it. */
    public long sinceAcknowledged(long now) {
        return now - acknowledgedAt;
    }

    /** The time until its deadline. */
    public long leftNanos(long now) {
        return deadline - now;
    }

    void retired() {
        retirement.complete(null);
    }

    /** Runs an action once the session is retired or has ended at the store; at once if that is so. */
    public void afterRetirement(Runnable action) {
        var unused = retirement.thenRun(action);
    }

    boolean isAwaitingRaise() {
        return !raises.isEmpty();
    }

    /** Runs an action once the epoch is above this one; the next keep-alive is to raise it. */
    void addRaise(long above, Runnable action) {
        raises.add(new Raise(above, action));
        wantedEpoch = Math.max(wantedEpoch, above + 1);
    }

    /**
     * Removes the actions that waited for the present epoch, or all of them if the session is no longer alive, and
     * returns them as one.
     */
    Runnable takeRaised() {
        List<Runnable> due = new ArrayList<>();
        raises.removeIf(raise -> {
            boolean isDue = epoch > raise.above() || !isAlive();
            if (isDue) {
                due.add(raise.action());
            }
            return isDue;
        });
        return () -> due.forEach(action -> Failsafe.run("an action that waited for a new epoch", action));
    }

    /** When it has certainly ended at the store, unless another keep-alive is sent. */
    public long goneAt() {
        return lastSent + 2 * ttlNanos;
    }

    /** Whether it has certainly ended at the store too, whose clock may be slower. */
    boolean hasEndedAtStore(long now) {
        return state == State.ENDED || (state == State.ABANDONED && now - deadline > ttlNanos);
    }
}
