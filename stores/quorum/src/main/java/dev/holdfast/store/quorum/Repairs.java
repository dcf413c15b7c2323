package dev.holdfast.store.quorum;

import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/*
 * Without repairs a hold can only lose members: a member that was away has forgotten it, and outages of two members,
 * weeks apart, would end a hold that a majority kept all the time. So after each keep-alive a member that counts is
 * asked again for the claims of the session that it lacks.
 *
 * A member that counts has granted nothing to owners unknown to it: if it lost its data, it was kept out for the
 * longest lease, and has admitted one owner at a time since. Its grant adds one more member that keeps other owners
 * out. But it must not hide that there was no majority for a while, in which another owner came and went. So a repair
 * counts only after a majority *without* it has confirmed, to a request sent after the member's grant, that it still
 * has the claim: each of these has had it since its own grant, so there was a majority at every moment up to the
 * repair.
 *
 * It counts only with tokens at least as great as the last one issued to the claim, because the next member to lose its
 * counters may be one of the majority that stands there.
 */

/** Regains, at members that were away, the claims that a majority has kept. */
final class Repairs {

    private static final Logger log = LoggerFactory.getLogger(Repairs.class);

    /** Limits the load on a member that has just come back. */
    private static final int MAX_CONCURRENT = 16;

    private final Quorum quorum;

    Repairs(Quorum quorum) {
        this.quorum = quorum;
    }

    /** Starts repairs of a session's claims at a member that has just renewed it. */
    void start(QuorumSession session, MemberSession there) {
        boolean isBusy = !there.toRepair.isEmpty() || there.repairing > 0;
        // Requests to a silent member are useless, and each would need to be settled.
        boolean isRenewed = there.renewedAt >= session.confirmedSince;
        if (!quorum.rules.repairs() || isBusy || !isRenewed || !there.isTrusted(quorum.loop.now())) {
            return;
        }
        for (QuorumClaim claim : session.claims.values()) {
            if (isMissing(claim, there)) {
                there.toRepair.add(claim);
            }
        }
        repairNext(there);
    }

    private void repairNext(MemberSession there) {
        while (there.repairing < MAX_CONCURRENT) {
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
            log.info("member={} claims={} regained from a majority", there.member, there.repaired);
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
                success ? "regained" : "not regained; it is retried after the next keep-alive");
        repairNext(there);
    }

    /** Whether a majority holds a claim and a member that counts lacks it. */
    private boolean isMissing(QuorumClaim claim, MemberSession there) {
        return isRepairable(claim)
                && !claim.isInDoubt
                && there.isTrusted(quorum.loop.now())
                && !isAt(there, claim.holds)
                && !isAt(there, claim.ending)
                && !isAt(there, claim.repairs)
                && quorum.isCovered(claim, claim.holds, claim.session.confirmedSince)
                && (!claim.hasFixedLease() || claim.leaseEndsAt > quorum.loop.now());
    }

    /** Whether a claim may be regained. */
    static boolean isRepairable(QuorumClaim claim) {
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
