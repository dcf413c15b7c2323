package dev.holdfast.store.quorum;

import java.time.Duration;

/*
 * All decisions on which mutual exclusion and increasing tokens rest, each with a name. Stateless. The class is open so
 * that tests can break one rule at a time and check that the simulation detects it; production uses the rules
 * unchanged.
 */

/** The decisions that keep two owners apart. */
class QuorumRules {

    /**
     * How many members make a majority: of all members, regardless of which answer.
     *
     * @param all how many members the quorum has
     * @param reached how many of them were asked and answered
     */
    int majority(int all, int reached) {
        return all / 2 + 1;
    }

    /**
     * Whether a member's hold counts: only if the member's session was renewed by a request sent no earlier than the
     * one from which the client counts its own deadline.
     */
    boolean counts(long renewedAt, long confirmedSince) {
        return renewedAt >= confirmedSince;
    }

    /** Whether a majority must stand at the end of a block before any token of it is issued. */
    boolean writesTokensBack() {
        return true;
    }

    /**
     * How long a member that may have lost its data is kept out: a tenth longer, since clocks run at different rates.
     */
    Duration keptOut(Duration longestLease) {
        return longestLease.plus(longestLease.dividedBy(10));
    }

    /** Whether members that were away regain the claims that a majority kept. */
    boolean repairs() {
        return true;
    }

    /** Whether a member that rejects a claim does not count for it. */
    boolean heedsRefusals() {
        return true;
    }

    /** Whether a member that was away counts only when it stands at the last token issued to the claim. */
    boolean raisesRepaired() {
        return true;
    }

    /**
     * Whether a member that was away counts only after a majority without it has confirmed that it still has the claim.
     */
    boolean confirmsRepaired() {
        return true;
    }

    /** Whether a claim is also withdrawn from members that have not answered, which may have granted it. */
    boolean settlesUnknown() {
        return true;
    }
}
