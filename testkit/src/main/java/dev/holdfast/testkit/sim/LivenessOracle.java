package dev.holdfast.testkit.sim;

/**
 * Detects what fails to happen: it checks later whether a loss was reported, a doubt resolved, or a release completed.
 * Only time in which the process ran without a break counts.
 */
final class LivenessOracle {

    /** The longest sleep that may go unnoticed for a while, with what the clocks' grain adds. */
    private static final long NAP = 40_000_000;

    private final World world;
    private final Plan plan;
    private final HoldOracle holdOracle;

    LivenessOracle(World world, Plan plan, HoldOracle holdOracle) {
        this.world = world;
        this.plan = plan;
        this.holdOracle = holdOracle;
    }

    /** Schedules the check for the loss of a hold, at its deadline. */
    void awaitLoss(Holding holding) {
        long left = holding.hold.remaining().toNanos();
        world.after(holding.client.process().clock().trueDuration(left) + plan.toldWithin(), () -> checkTold(holding));
    }

    private void checkTold(Holding holding) {
        SimProcess process = holding.client.process();
        if (!holding.isInHand() || process.isDead()) {
            return;
        }
        // Timers sleep with the machine, so after a sleep they detect the loss later.
        boolean isDrowsy = world.now() - process.awakeSince() < plan.ttl / 8 + plan.toldWithin();
        if (process.isPaused() && holding.hold.remaining().isZero()) {
            // Its own clock says so, whatever the process learns when it resumes.
            holding.wasOver = true;
        }
        boolean isFresh = world.now() - process.runningSince() < plan.toldWithin();
        if (!process.isRunning() || isFresh || isDrowsy) {
            world.after(process.isRunning() ? plan.toldWithin() : plan.ttl / 16, () -> checkTold(holding));
        } else if (!holding.hold.remaining().isZero()) {
            if (holding.overSince != Long.MAX_VALUE) {
                world.fail(Rule.LOST_STAYS_LOST, holding + " was over, and now has time left");
            }
            awaitLoss(holding);
        } else if (holding.overSince == Long.MAX_VALUE) {
            // Its end may have moved just now: by an extension, or by a nap that was detected late.
            holding.overSince = world.now();
            world.after(plan.toldWithin() + (process.hasSlept() ? NAP : 0), () -> checkTold(holding));
        } else {
            world.fail(
                    Rule.LOSS_IS_TOLD,
                    holding + " is over, and its owner was not told within " + plan.toldWithin() / 1_000 + " us");
        }
    }

    /** Fails the run if a doubt is not resolved, as held or as lost. */
    void awaitCertainty(Holding holding) {
        if (!plan.isNetworkClean() || !holdOracle.isStoreWhole()) {
            return;
        }
        long within = plan.ttl / 2 + plan.settledWithin();
        world.after(within, () -> {
            SimProcess process = holding.client.process();
            long since = world.now() - within;
            if (process.isDead() || !holding.isInHand() || !holding.wasInDoubt) {
                return;
            }
            boolean isDisturbed =
                    !process.isRunning() || process.runningSince() >= since || process.steppedAt() >= since;
            if (isDisturbed) {
                awaitCertainty(holding);
            } else if (!holdOracle.checkHeld(holding) && !holding.wasOver) {
                world.fail(
                        Rule.EVERYTHING_ENDS,
                        holding + " has been in doubt for " + within / 1_000_000 + " ms, and nobody asks the store");
            }
        });
    }

    /** Fails the run if the release does not end in time, with any outcome. */
    void awaitRelease(Holding holding) {
        long since = world.now();
        // The time-out, the retries until it has passed, and one more command that may be under way then.
        long within = 2 * plan.storeTimeout + 2_000_000_000 + plan.toldWithin();
        world.after(within, () -> {
            SimProcess process = holding.client.process();
            boolean hasRun = process.isRunning() && process.runningSince() < since;
            if (!holding.hasEnded && hasRun) {
                world.fail(
                        Rule.EVERYTHING_ENDS,
                        holding + " was released, and its owner not told how that ended within " + within / 1_000_000
                                + " ms");
            }
        });
    }
}
