package dev.holdfast.engine.client;

import java.util.concurrent.TimeUnit;

/*
 * Every decision on which exclusion rests, in one place and by name. The engine asks; nothing here has state. The
 * class is open so that tests can break one rule at a time and see the simulation catch it; production uses the rules
 * as they are.
 */

/** The decisions that keep two owners apart. All times are elapsed nanoseconds. */
public class SafetyRules {

    private static final long MIN_MARGIN_NANOS = TimeUnit.MILLISECONDS.toNanos(20);

    /**
     * How much of a lease is given up for clocks that run at other rates and for what the network hides: 10 %, or
     * twice the 99th percentile of the observed round trips but at most a quarter, or 20 ms, whichever is most.
     */
    public long margin(long leaseNanos, long p99RoundTripNanos) {
        return Math.max(leaseNanos / 10, Math.max(Math.min(2 * p99RoundTripNanos, leaseNanos / 4), MIN_MARGIN_NANOS));
    }

    /**
     * When a lease must be taken as ended. The store counts from its own step, we count from before we asked: our
     * deadline is never the later one, however slow the trip.
     */
    public long deadline(long sentAt, long answeredAt, long leaseNanos, long marginNanos) {
        return sentAt + leaseNanos - marginNanos;
    }

    /**
     * Whether an acknowledged keep-alive may still move a deadline: one that comes after it does not bring back what
     * was lost.
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
     * Whether a grant with this deadline may go on when its hold is given up: past the deadline that hold was lost, and
     * nobody gets the lock from it.
     */
    public boolean mayPassOn(long now, long deadline) {
        return now - deadline < 0;
    }

    /** Whether a forward step of the wall clock puts holds in doubt until the store was asked. */
    public boolean stepsRaiseDoubt() {
        return true;
    }

    /** Whether a grant that nobody waits for any more is given back. */
    public boolean returnsUnwantedGrants() {
        return true;
    }

    /** Whether a grant may be passed on, yielded or given back: not while a local hold is live under it. */
    public boolean mayPartWith(boolean holdIsLive) {
        return !holdIsLive;
    }

    /** Whether the epoch is raised before a command of unknown outcome is settled. */
    public boolean raisesEpochWhenUnknown() {
        return true;
    }

    /** The token that a hold shows: its own, and not the newest under its grant. */
    public long shownToken(long own, long newest) {
        return own;
    }
}
