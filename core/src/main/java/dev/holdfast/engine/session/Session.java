package dev.holdfast.engine.session;

import dev.holdfast.engine.execution.Failsafe;
import dev.holdfast.spi.SessionId;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/*
 * One incarnation of the client at the store. It is alive until its deadline passes unrenewed (then it is abandoned:
 * never renewed, nothing new is asked under it, and no grant of it becomes a hold) or until the store says that it
 * has ended. It never becomes alive again; the keeper opens the next one.
 */

/** A session as the client sees it. Written under the keeper's lock; the volatile fields are read by anyone. */
public final class Session {

    public enum State {
        ALIVE,
        /** Past its deadline; the store may still keep it. */
        ABANDONED,
        /** Gone at the store. */
        ENDED
    }

    /** Waits for the epoch to be raised above the one under which a command of unknown outcome was sent. */
    private record Raise(long above, Runnable action) {}

    public final SessionId id;

    public final long ttlNanos;
    private final List<Raise> raises = new ArrayList<>();

    volatile State state = State.ALIVE;
    volatile long deadline;

    /** The epoch under which commands are sent: the highest one that the store has acknowledged. */
    public volatile long epoch;

    /** How many steps of the wall clock had been seen when the newest acknowledged request was sent. */
    volatile long clearedSteps;

    /** What was pushed against its being alive. */
    final PendingRevocation contradiction = new PendingRevocation();

    /** Completed when the store takes nothing new from this session any more. */
    private final CompletableFuture<Void> retirement = new CompletableFuture<>();

    /** Listeners were told that it is in doubt, and not yet that this is over. */
    boolean isDoubtTold;

    /** How many steps of the wall clock had been seen when the store was last asked because of a doubt. */
    private long askedSteps;

    /** The epoch that the next keep-alive carries. */
    long wantedEpoch;

    /** The highest epoch that is on its way; 0 when nothing is known to be. */
    long raisingTo;

    /** When the request was sent that opened it. */
    final long openedAt;

    /** When the newest request was sent by which the store has acknowledged it. */
    private volatile long acknowledgedAt;

    /** When the newest keep-alive was sent, answered or not: no later can the store's own deadline begin. */
    volatile long lastSent;

    public Session(SessionId id, long ttlNanos, long sentAt, long deadline, long clearedSteps) {
        this.id = id;
        this.ttlNanos = ttlNanos;
        this.openedAt = sentAt;
        this.lastSent = sentAt;
        this.acknowledgedAt = sentAt;
        this.deadline = deadline;
        this.clearedSteps = clearedSteps;
    }

    public boolean isAlive() {
        return state == State.ALIVE;
    }

    /**
     * Whether the store has surely dropped it, by the clock alone: twice the ttl after the last request that may have
     * renewed it.
     */
    boolean isOverByNow(long now) {
        return state == State.ENDED || now - goneAt() > 0;
    }

    /**
     * A keep-alive is acknowledged; one that was overtaken takes nothing back. Under the lock.
     *
     * @param sentAt when it was sent
     * @param until the deadline that it gives
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

    /** Whether the store was not yet asked because of a doubt since so many steps of the wall clock were seen. */
    boolean askOnce(long steps) {
        boolean isNew = askedSteps != steps;
        askedSteps = steps;
        return isNew;
    }

    /** The time since the newest request was sent by which the store has acknowledged it. */
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

    /** Runs an action once the session is retired or gone at the store; at once if it is. */
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
     * Runs the actions that waited for the present epoch, or all of them when the session is not alive any more; they
     * don't wait any more from now on.
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
        return () -> due.forEach(action -> Failsafe.run("what waited for a raise of the epoch", action));
    }

    /** The earliest time at which the store has surely dropped it, unless it is asked for more. */
    public long goneAt() {
        return lastSent + 2 * ttlNanos;
    }

    /** Whether it has surely ended at the store too, whose clock may be slower. */
    public boolean isOverBy(long now) {
        return state == State.ENDED || (state == State.ABANDONED && now - deadline > ttlNanos);
    }
}
