package dev.holdfast.engine.deadlock;

import java.util.Set;
import java.util.concurrent.TimeUnit;

/*
 * Why a reported cycle existed. Let f(i) be the moment at which member i's client began to read its tables for the
 * first annotation with this wait id, and v(i) the moment at which it did so for the annotation that acknowledges all
 * others; for the client that reports, the present pass. (1) A wait id belongs to one wait, and a thread acquires
 * nothing while it waits: from f(i) to v(i) it waited for the same name, and kept every hold that is stated at v(i).
 * (2) A client acknowledges a wait only after it has read its annotation, and reads its own tables after that: f(j) is
 * before v(i) for all i and j. (3) So the latest f is before every v. At that moment all waits were on and all holds
 * were live. Clocks, delays and the order of messages don't matter.
 *
 * Each grant of a member has a line, and these are read at different moments. So v(i) is that of the line of the hold
 * for which the member before i waits: a newer line of another grant does not say that this hold is still there.
 *
 * For a reader behind a writer, f and v are the moments of the inspection that showed the writer. The claims before a
 * claim only become fewer, so a writer that is there at v was there at f.
 */

/**
 * The decisions that keep a report true, and a deadlock from being missed. Stateless. Tests break one rule at a time
 * and show that the simulation catches it; production uses the rules as they are.
 */
public class DeadlockRules {

    private static final long QUICK_PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(60);
    private static final long NEWS_PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(125);
    private static final long LEAST_PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(500);
    private static final long MOST_PAUSE_NANOS = TimeUnit.SECONDS.toNanos(2);
    private static final int AGE_PER_PAUSE = 8;

    /** Whether a hold blocks a wait for its name. */
    public boolean blocks(boolean isWaitExclusive, boolean isWriteHold) {
        return isWaitExclusive || isWriteHold;
    }

    /** Whether a reader for which a writer was found is blocked by all holds. */
    public boolean countsWriterBefore(boolean wasFound) {
        return wasFound;
    }

    /** Whether a hold is stated: another may wait for it until its owner, a thread, releases it. */
    public boolean isStated(boolean isOwned, boolean hasOwnLease, boolean isLive) {
        return isOwned && !hasOwnLease && isLive;
    }

    /** Whether a wait is stated that is not at the head of the local queue. */
    public boolean isStatedBehindOthers() {
        return true;
    }

    /** Whether others may wait for a hold: a writer may also wait in a process that still reads. */
    public boolean isAwaited(boolean isAwaitedHere, boolean isAwaitedAtStore, boolean isSharedGrant) {
        return isAwaitedHere || isAwaitedAtStore || isSharedGrant;
    }

    /** The id of a new wait. */
    public long newId(Object thread, long random) {
        return random;
    }

    /** Whether the tables of this client are read after the annotations of others. */
    public boolean readsTablesLast() {
        return true;
    }

    /** Whether writers before a reader are inspected after the annotations of others were read. */
    public boolean inspectsWritersLast() {
        return true;
    }

    /**
     * What a wait acknowledges.
     *
     * @param component the ids of the waits that it reaches and that reach it
     * @param before the id of the member before it in the cycle that was found
     */
    public Set<Long> acknowledged(Set<Long> component, long before) {
        return component;
    }

    /**
     * Whether a member of another client confirms a cycle.
     *
     * @param acks what it acknowledges
     * @param others the ids of all other members
     * @param before the id of the member before it
     */
    public boolean isConfirmed(Set<Long> acks, Set<Long> others, long before) {
        return acks.containsAll(others);
    }

    /**
     * Whether a member of this client confirms a cycle: only if it was stated in an earlier pass.
     *
     * @param isNew whether it is stated for the first time
     */
    public boolean isConfirmedHere(boolean isNew) {
        return !isNew;
    }

    /** Whether a confirmed cycle of waits may be reported, whose annotations were read in this form. */
    public boolean mayReport(Set<Long> ids, Object annotations) {
        return true;
    }

    /** Whether a cycle of this length is searched for. */
    public boolean isSearched(int members) {
        return true;
    }

    /** The pause before the next pass, by the age of the youngest nested wait. */
    public long pauseNanos(long youngestNanos, long ttlNanos) {
        long most = Math.min(MOST_PAUSE_NANOS, ttlNanos / 3);
        return Math.min(Math.max(LEAST_PAUSE_NANOS, youngestNanos / AGE_PER_PAUSE), most);
    }

    /** The pause after a pass that has read a new wait. */
    public long pauseAfterNewsNanos() {
        return NEWS_PAUSE_NANOS;
    }

    /**
     * The pause while a cycle is not confirmed.
     *
     * @param passes in how many passes in a row it was found before
     */
    public long pauseUnconfirmedNanos(int passes) {
        long pause = QUICK_PAUSE_NANOS;
        for (int i = 0; i < passes && pause < LEAST_PAUSE_NANOS; i++) {
            pause += pause / 2;
        }
        return Math.min(pause, LEAST_PAUSE_NANOS);
    }
}
