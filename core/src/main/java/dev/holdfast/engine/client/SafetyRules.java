package dev.holdfast.engine.client;

import dev.holdfast.engine.deadlock.DeadlockRules;
import java.util.concurrent.TimeUnit;

/*
 * Every decision on which mutual exclusion depends, and three on the order of processes, in one place and by name.
 * Stateless. The class is not final, so that tests can break one rule at a time and show that the simulation catches
 * it; production uses the rules as they are.
 */

/** The decisions that keep two owners apart. All times are elapsed nanoseconds. */
public class SafetyRules {

    private static final DeadlockRules DEADLOCKS = new DeadlockRules();

    private static final long MIN_MARGIN_NANOS = TimeUnit.MILLISECONDS.toNanos(20);

    /**
     * The part of a lease that is not used, for clocks that run at different rates and for delays of the network: 10 %,
     * or twice the 99th percentile of the observed round trips but at most a quarter, or 20 ms, whichever is greatest.
     */
    public long margin(long leaseNanos, long p99RoundTripNanos) {
        return Math.max(leaseNanos / 10, Math.max(Math.min(2 * p99RoundTripNanos, leaseNanos / 4), MIN_MARGIN_NANOS));
    }

    /**
     * The time after which a lease counts as ended. The store counts from its own step, the client from before it sent
     * the request: the client's deadline is never the later one, even after a slow round trip.
     */
    public long deadline(long sentAt, long answeredAt, long leaseNanos, long marginNanos) {
        return sentAt + leaseNanos - marginNanos;
    }

    /**
     * Whether an acknowledged keep-alive may still move a deadline: after the deadline it does not revive what was
     * lost.
     */
    public boolean mayRenew(long answeredAt, long deadline) {
        return answeredAt - deadline < 0;
    }

    /** Whether a hold with this deadline is good now. */
    public boolean isGood(long now, long deadline) {
        return now - deadline < 0;
    }

    /** Whether a local request may get a grant with this deadline now. */
    public boolean mayHandOn(long now, long deadline, boolean inDoubt) {
        return now - deadline < 0 && !inDoubt;
    }

    /**
     * Whether a grant with this deadline may be handed over when its hold is released: past the deadline that hold was
     * lost, and so was the grant.
     */
    public boolean mayPassOn(long now, long deadline) {
        return now - deadline < 0;
    }

    /** Whether a forward step of the wall clock puts holds in doubt until the store has answered. */
    public boolean stepsRaiseDoubt() {
        return true;
    }

    /** Whether a grant without waiting requests is released. */
    public boolean returnsUnwantedGrants() {
        return true;
    }

    /** Whether a grant may be handed over, yielded or released: not while a local hold is live under it. */
    public boolean mayPartWith(boolean holdIsLive) {
        return !holdIsLive;
    }

    /** Whether the epoch is raised before a command of unknown outcome is settled. */
    public boolean raisesEpochWhenUnknown() {
        return true;
    }

    /**
     * Whether a strict lock may be handed over in memory without a new question whether others wait at the store. This
     * decides on the order of processes and not on exclusion.
     *
     * @param sentAt when the question was sent that the store answered with "no one waits"
     * @param windowNanos how long the answer counts
     */
    public boolean mayHandOverUnasked(long now, long sentAt, long windowNanos) {
        return now - sentAt < windowNanos;
    }

    /**
     * Whether a strict grant serves a request before it goes back to the store, where others wait. This decides on the
     * order of processes and not on exclusion.
     *
     * @param waitedBefore whether the request waited here when the claim was sent
     */
    public boolean mayServeBeforeOthers(boolean waitedBefore) {
        return waitedBefore;
    }

    /**
     * Whether the cohort budget begins with the first release under a grant, and not with the grant. This decides on
     * the shares of processes and not on exclusion.
     */
    public boolean budgetBeginsWithRelease() {
        return true;
    }

    /** The decisions of the search for deadlocks. */
    public DeadlockRules deadlocks() {
        return DEADLOCKS;
    }

    /** The token that a hold shows: its own, and not the newest under its grant. */
    public long shownToken(long own, long newest) {
        return own;
    }
}
