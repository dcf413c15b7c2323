package dev.holdfast.testkit.sim;

/**
 * Judges what does not happen: comes back after a while and looks whether a loss was told, a doubt is over, a release
 * has ended. Counts the time only while the process concerned has been running without a break.
 */
final class Watchman {

    /** The longest sleep that may go unnoticed for a while, with what the clocks' grain adds. */
    private static final long NAP = 40_000_000;

    private final World world;
    private final Plan plan;
    private final Judge judge;

    Watchman(World world, Plan plan, Judge judge) {
        this.world = world;
        this.plan = plan;
        this.judge = judge;
    }

    /** Has the loss of a hold looked for when its time is over. */
    void awaitLoss(Holding holding) {
        long left = holding.hold.remaining().toNanos();
        world.after(holding.client.process().clock().trueDuration(left) + plan.toldWithin(), () -> checkTold(holding));
    }

    private void checkTold(Holding holding) {
        SimProcess process = holding.client.process();
        if (!holding.isInHand() || process.isDead()) {
            return;
        }
        // Timers sleep with the machine, so after that they take longer to find out.
        boolean isDrowsy = world.now() - process.awakeSince() < plan.ttl / 8 + plan.toldWithin();
        if (process.isPaused() && holding.hold.remaining().isZero()) {
            // Its own clock says so, whatever it is told when it goes on.
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
            // It may have ended just now: an extension, or a nap that was found out late, has moved its end.
            holding.overSince = world.now();
            world.after(plan.toldWithin() + (process.hasSlept() ? NAP : 0), () -> checkTold(holding));
        } else {
            world.fail(
                    Rule.LOSS_IS_TOLD,
                    holding + " is over, and its owner was not told within " + plan.toldWithin() / 1_000 + " us");
        }
    }

    /** Sees to it that a doubt ends: as held, or as lost. */
    void awaitCertainty(Holding holding) {
        if (!plan.isNetworkClean() || !judge.isStoreWhole()) {
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
            } else if (!judge.look(holding) && !holding.wasOver) {
                world.fail(
                        Rule.EVERYTHING_ENDS,
                        holding + " has been in doubt for " + within / 1_000_000 + " ms, and nobody asks the store");
            }
        });
    }

    /** Sees to it that the release ends in time, one way or the other. */
    void awaitRelease(Holding holding) {
        long since = world.now();
        // The time-out, the retries that go on until it is over, and one more command that may be under way then.
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
