package dev.holdfast.store.quorum;

import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/*
 * Without repairs a hold only ever loses members: one that was away has forgotten it, and two outages of one member
 * each, weeks apart, would end a hold that a majority kept all the time. So after each keep-alive the claims of the
 * session that a member lacks, though it counts, are asked of it again.
 *
 * A member that counts has made no promise to anybody who is gone: it was kept out for the longest lease if it lost its
 * data, and admits one owner at a time since. What it grants is one more of the members that keep others out. It must
 * not cover up that there was no majority for a while, in which somebody else came and went. So a repair counts only
 * after a majority *without* it has said, to a request sent after the member's grant, that it has the claim still: each
 * of these has had it from its own grant on, so there was a majority at every moment up to the repair.
 *
 * It counts only with tokens that are no less than the last that the claim was given, for of the majority that stood
 * there the next member may be the one that loses its counters.
 */

/** Claims again, at members that were away, what a majority has kept. */
final class Repairs {

    private static final Logger log = LoggerFactory.getLogger(Repairs.class);

    /** A member that has just come back is not to be flooded with all that its clients hold. */
    private static final int MOST_AT_ONCE = 16;

    private final Quorum quorum;

    Repairs(Quorum quorum) {
        this.quorum = quorum;
    }

    /** Starts repairs at a member that has just renewed a session, of what the session holds by a majority. */
    void start(QuorumSession session, MemberSession there) {
        boolean isBusy = !there.toRepair.isEmpty() || there.repairing > 0;
        // One that is silent would be asked in vain, and each time there would be something to settle.
        boolean isRenewed = there.renewedAt >= session.toldSince;
        if (!quorum.rules.repairs() || isBusy || !isRenewed || !there.isTrusted(quorum.loop.now())) {
            return;
        }
        for (QuorumClaim claim : session.claims.values()) {
            if (isMissing(claim, there)) {
                there.toRepair.add(claim);
            }
        }
        goOn(there);
    }

    private void goOn(MemberSession there) {
        while (there.repairing < MOST_AT_ONCE) {
            QuorumClaim claim = there.toRepair.poll();
            if (claim == null) {
                break;
            }
            if (isMissing(claim, there)) {
                there.repairing++;
                new Repair(quorum, claim, there, success -> ended(there, claim, success)).begin();
            }
        }
        if (there.repairing == 0 && there.repaired > 0) {
            log.info("member={} claims={} regained: a majority had kept them", there.member, there.repaired);
            there.repaired = 0;
        }
    }

    private void ended(MemberSession there, QuorumClaim claim, boolean success) {
        there.repairing--;
        there.repaired += success ? 1 : 0;
        log.debug(
                "resource={} member={} {}",
                claim.ref.resource(),
                there.member,
                success ? "regained" : "not regained; it is tried again after the next keep-alive");
        goOn(there);
    }

    /** Whether a claim is held by a majority, and a member that counts has nothing of it. */
    private boolean isMissing(QuorumClaim claim, MemberSession there) {
        return isOpen(claim)
                && !claim.isSuspect
                && there.isTrusted(quorum.loop.now())
                && !isAt(there, claim.holds)
                && !isAt(there, claim.ending)
                && !isAt(there, claim.repairs)
                && quorum.isCovered(claim, claim.holds, claim.session.toldSince)
                && (!claim.hasOwnLease() || claim.leaseEndsAt > quorum.loop.now());
    }

    /** Whether a claim may be asked for again. */
    static boolean isOpen(QuorumClaim claim) {
        QuorumSession session = claim.session;
        return claim.state == QuorumClaim.State.HELD
                && claim.changing == 0
                && claim.tokens != null
                && claim.request != null
                && !session.isOver
                && !session.isRetired;
    }

    private static boolean isAt(MemberSession there, List<MemberHold> holds) {
        return holds.stream().anyMatch(hold -> hold.member() == there.member);
    }
}
