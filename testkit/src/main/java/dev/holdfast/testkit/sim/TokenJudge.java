package dev.holdfast.testkit.sim;

import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;

/** Judges the tokens that actors are shown: whose they are, and that they rise. */
final class TokenJudge {

    /** What was shown of one resource. */
    private static final class Shown {
        final Set<Long> tokens = new HashSet<>();
        /** The greatest of the holds of each weight. */
        final Map<Integer, Long> greatest = new HashMap<>();
    }

    private final World world;
    private final Plan plan;
    private final Ledger ledger;
    private final Reached reached;
    private final Map<String, Shown> resources = new HashMap<>();

    TokenJudge(World world, Plan plan, Ledger ledger, Reached reached) {
        this.world = world;
        this.plan = plan;
        this.ledger = ledger;
        this.reached = reached;
    }

    /** The greatest token so far of a hold beside which there is no room for one of a weight. */
    long greatestInTheWay(SimResource resource, int weight) {
        long most = resource.capacity() + (plan.resizes > 0 ? Actor.MOST_MORE : 0L);
        long greatest = 0;
        for (Map.Entry<Integer, Long> each : of(resource.name()).greatest.entrySet()) {
            if ((long) each.getKey() + weight > most) {
                greatest = Math.max(greatest, each.getValue());
            }
        }
        return greatest;
    }

    /** A hold begins that was asked for when the greatest token in its way was that of the part. */
    void begins(Holding holding, Wish wish, Wish.Part part) {
        Shown shown = of(holding.resource.name());
        boolean isNew = shown.tokens.add(holding.token);
        boolean isShare = part.isShare();
        if (!isNew && !isShare) {
            world.fail(Rule.TOKENS_RISE, holding + " begins, but its token was given before");
        }
        boolean isBelow = isShare ? holding.token < part.tokenBefore() : holding.token <= part.tokenBefore();
        if (isBelow && plan.isStoreSound() && !ledger.wasTakenAway(holding)) {
            world.fail(
                    Rule.TOKENS_RISE,
                    holding + " begins, but when it was asked for, " + part.tokenBefore()
                            + " had been given to one that can't stand beside it");
        }
        shown.greatest.merge(holding.weight, holding.token, Math::max);
        checkGrant(holding, wish);
    }

    private void checkGrant(Holding holding, Wish wish) {
        ClaimRecord grant = ledger.grantOf(holding);
        if (grant == null) {
            world.fail(Rule.OWN_TOKEN, holding + " begins with a token that the store never gave");
            return;
        }
        if (grant.session.owner.process() != holding.client.process()) {
            world.fail(Rule.OWN_TOKEN, holding + " begins with a token of another client's grant");
        }
        if (grant.wasServed) {
            reached.hit(holding.isShare() ? Reach.SHARED : Reach.HANDED_ON);
            // Who shares was maybe served before the other let go, and is told only now.
            if (grant.overAt < (holding.isShare() ? wish.askedAt : Long.MAX_VALUE)) {
                world.fail(Rule.NO_LATE_HAND_OFF, holding + " is handed on from a hold that was over");
            }
        }
        grant.wasServed = true;
    }

    private Shown of(String resource) {
        return resources.computeIfAbsent(resource, name -> new Shown());
    }
}
