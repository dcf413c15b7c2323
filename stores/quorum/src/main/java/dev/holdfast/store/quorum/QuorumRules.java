package dev.holdfast.store.quorum;

import java.time.Duration;

/*
 * Every decision on which exclusion and rising tokens rest, in one place and by name. Nothing here has state. The class
 * is open so that tests can break one rule at a time and see the simulation catch it; production uses the rules as they
 * are.
 */

/** The decisions that keep two owners apart. */
class QuorumRules {

    /**
     * How many members make a majority: of all there are, whoever answers.
     *
     * @param all how many members the quorum has
     * @param reached how many of them were asked and answered
     */
    int majority(int all, int reached) {
        return all / 2 + 1;
    }

    /**
     * Whether a member's record of a claim counts: only if the member's session was renewed by a request that was sent
     * no earlier than the one to which the client's own deadline goes back.
     */
    boolean counts(long renewedAt, long toldSince) {
        return renewedAt >= toldSince;
    }

    /** Whether a majority must stand at the end of a block before any token of it is given. */
    boolean writesTokensBack() {
        return true;
    }

    /** For how long a member that may have lost its data is kept out: a tenth more, since clocks run at other rates. */
    Duration keptOut(Duration longestLease) {
        return longestLease.plus(longestLease.dividedBy(10));
    }

    /** Whether a claim that a majority keeps is claimed again at members that were away. */
    boolean repairs() {
        return true;
    }

    /** Whether a member that refuses a claim does not count for it. */
    boolean heedsRefusals() {
        return true;
    }

    /** Whether a member that was away counts only when it stands at the last token that the claim was given. */
    boolean raisesRepaired() {
        return true;
    }

    /** Whether a member that was away counts only after a majority without it has said that it has the claim still. */
    boolean confirmsRepaired() {
        return true;
    }

    /** Whether a claim is taken back also from members that have not answered, which may have made it. */
    boolean settlesUnknown() {
        return true;
    }
}
