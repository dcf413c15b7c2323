package dev.holdfast.engine.session;

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
    long askedSteps;

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

    /** A keep-alive that was sent then is acknowledged; one that was overtaken changes nothing. Under the lock. */
    void acknowledge(long sentAt) {
        if (sentAt - acknowledgedAt > 0) {
            acknowledgedAt = sentAt;
        }
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

    void addRaise(long above, Runnable action) {
        raises.add(new Raise(above, action));
    }

    /** The actions that waited for the present epoch, or all of them when the session is not alive any more. */
    List<Runnable> takeRaised() {
        List<Runnable> due = new ArrayList<>();
        raises.removeIf(raise -> {
            boolean isDue = epoch > raise.above() || !isAlive();
            if (isDue) {
                due.add(raise.action());
            }
            return isDue;
        });
        return due;
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
