package dev.holdfast.testkit.sim;

import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;

/** Checks the tokens that actors see: that they belong to the hold, and that they increase. */
final class TokenOracle {

    /** The tokens of one resource that were seen. */
    private static final class Shown {
        final Set<Long> tokens = new HashSet<>();
        /** The greatest token for each weight. */
        final Map<Integer, Long> greatest = new HashMap<>();
    }

    private final World world;
    private final Plan plan;
    private final StoreOracle storeOracle;
    private final Coverage coverage;
    private final Map<String, Shown> resources = new HashMap<>();

    TokenOracle(World world, Plan plan, StoreOracle storeOracle, Coverage coverage) {
        this.world = world;
        this.plan = plan;
        this.storeOracle = storeOracle;
        this.coverage = coverage;
    }

    /** The greatest token so far of holds that exclude a hold of a weight. */
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

    /** Called when a hold begins; the request has the greatest excluding token from before. */
    void begins(Holding holding, AcquireIntent intent, AcquireIntent.Part part) {
        Shown shown = of(holding.resource.name());
        boolean isNew = shown.tokens.add(holding.token);
        boolean isShare = part.isShare();
        if (!isNew && !isShare) {
            world.fail(Rule.TOKENS_RISE, holding + " begins, but its token was given before");
        }
        boolean isBelow = isShare ? holding.token < part.tokenBefore() : holding.token <= part.tokenBefore();
        if (isBelow && plan.isStoreSound() && !storeOracle.wasTakenAway(holding)) {
            world.fail(
                    Rule.TOKENS_RISE,
                    holding + " begins, but when it was asked for, " + part.tokenBefore()
                            + " had been given to one that can't stand beside it");
        }
        shown.greatest.merge(holding.weight, holding.token, Math::max);
        checkGrant(holding, intent);
    }

    private void checkGrant(Holding holding, AcquireIntent intent) {
        ClaimRecord grant = storeOracle.grantOf(holding);
        if (grant == null) {
            world.fail(Rule.OWN_TOKEN, holding + " begins with a token that the store never gave");
            return;
        }
        if (grant.session.owner.process() != holding.client.process()) {
            world.fail(Rule.OWN_TOKEN, holding + " begins with a token of another client's grant");
        }
        if (grant.wasServed) {
            coverage.hit(holding.isShare() ? CoveragePoint.SHARED : CoveragePoint.HANDED_ON);
            // A reader may have been granted before the earlier hold ended, and notified later.
            if (grant.overAt < (holding.isShare() ? intent.askedAt : Long.MAX_VALUE)) {
                world.fail(Rule.NO_LATE_HAND_OFF, holding + " is handed on from a hold that was over");
            }
        }
        grant.wasServed = true;
    }

    private Shown of(String resource) {
        return resources.computeIfAbsent(resource, name -> new Shown());
    }
}
