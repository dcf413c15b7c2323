package dev.holdfast.testkit.sim;

import dev.holdfast.ClientClosedException;
import dev.holdfast.Hold;
import dev.holdfast.LockLostException;
import dev.holdfast.Permits;
import dev.holdfast.ReleaseOutcome;
import dev.holdfast.StoreUnavailableException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What an actor does with its holds: it checks them, writes or reads what they guard, re-enters, extends leases and
 * downgrades. It releases in time, late, twice, through another client or never.
 */
final class HoldScenario {

    private static final long MILLI = 1_000_000;
    private static final long SHORTEST_LEASE = 200 * MILLI;

    private final Run run;
    private final SimClient client;
    private final SeededRandom random;
    private final Actor actor;
    private final AcquireIntent intent;
    private final List<Hold> holds;
    private final List<Holding> holdings = new ArrayList<>();
    /** The second acquisition of the same owner, if it has one. */
    private @Nullable Hold inner;

    private boolean hasLeftOuter;

    HoldScenario(Run run, SimClient client, SeededRandom random, Actor actor, AcquireIntent intent, List<Hold> holds) {
        this.run = run;
        this.client = client;
        this.random = random;
        this.actor = actor;
        this.intent = intent;
        this.holds = holds;
    }

    void begin() {
        client.noteGrant();
        for (int i = 0; i < holds.size(); i++) {
            Hold hold = holds.get(i);
            if (client.isClosing() && hold.isHeld()) {
                run.world.fail(Rule.CLOSED, actor + " is granted a lock while its client is being closed");
            }
            client.startsHolding(intent.parts.get(i).resource().name());
            holdings.add(run.holdOracle.granted(client, intent, intent.parts.get(i), hold));
        }
        if (holds.size() > 1) {
            run.coverage.hit(CoveragePoint.SEVERAL_AT_ONCE);
        }
        work(run.isDraining() ? 0 : random.below(intent.isExtendable() ? 8 : 4));
    }

    private void work(int steps) {
        long holdMax = run.plan.holdMax;
        if (run.starvationCheck().isOn()) {
            holdMax = random.between(5 * MILLI, 20 * MILLI);
        } else if (run.isDraining()) {
            holdMax = Math.min(holdMax, 5 * MILLI);
        }
        client.process().after(random.between(0, holdMax / (steps + 1)), () -> {
            if (steps == 0) {
                finish();
                return;
            }
            boolean isHeld = true;
            for (Holding holding : holdings) {
                isHeld &= run.holdOracle.checkHeld(holding);
            }
            if (isHeld && intent.isExtendable() && random.chance(run.plan.extensions)) {
                extend();
            } else if (isHeld && random.chance(run.plan.reentries)) {
                enterOrLeave();
            } else {
                holdings.forEach(this::use);
            }
            work(isHeld || random.chance(0.3) ? steps - 1 : 0);
        });
    }

    // ---- Use

    /**
     * Checks the hold, and writes after a moment in which anything may happen. The write then travels without the
     * process.
     */
    private void use(Holding holding) {
        long token = holding.resource.isSemaphore() ? 0 : run.holdOracle.token(holding);
        if (token == 0) {
            return;
        }
        long checkedAt = run.world.now();
        boolean isWrite = holding.isAlone();
        long moment = random.chance(0.1) ? random.heavyTail(MILLI, run.plan.ttl / 2) : random.heavyTail(1_000, MILLI);
        client.process().after(moment, () -> {
            if (client.process().runningSince() > checkedAt) {
                run.coverage.hit(CoveragePoint.STOPPED_BETWEEN_CHECK_AND_WRITE);
            }
            Guarded guarded = run.holdOracle.guarded(holding.resource.name());
            run.world.after(run.network.delay(random), () -> {
                if (isWrite) {
                    guarded.write(token, holding);
                } else {
                    guarded.read(token, holding);
                }
            });
        });
    }

    private void extend() {
        Duration lease = Duration.ofNanos(random.between(SHORTEST_LEASE, run.plan.leaseMax));
        Holding holding = random.oneOf(holdings);
        if (holding.isPartOfSeveral || hasLeftOuter) {
            return;
        }
        run.say(actor + " extends to " + lease);
        client.subject().extend(holding.hold, lease).whenComplete((nothing, failure) -> {
            Throwable cause = Actor.causeOf(failure);
            if (cause == null) {
                run.coverage.hit(CoveragePoint.EXTENDED);
            } else if (cause instanceof StoreUnavailableException) {
                run.coverage.hit(CoveragePoint.EXTENSION_UNKNOWN);
            } else if (!(cause instanceof LockLostException)
                    && !(cause instanceof ClientClosedException)
                    && !(cause instanceof IllegalStateException && holding.isReleased)) {
                run.world.fail(
                        Rule.THREE_OUTCOMES, actor + "'s extension ended for no reason that it could have: " + cause);
            }
        });
    }

    /** Re-enters, to read or as before; or releases one of two acquisitions. */
    private void enterOrLeave() {
        Holding holding = holdings.get(0);
        Hold second = inner;
        if (holding.isPartOfSeveral || holding.resource.isSemaphore() || hasLeftOuter) {
            use(holding);
        } else if (second == null) {
            boolean isWrite = holding.isAlone() && holding.resource.isReadWrite() && random.chance(0.3);
            run.say(actor + " enters " + holding + " again");
            inner = client.subject().enterAgain(holding.hold, isWrite);
            holding.isInnerWrite = isWrite;
        } else if (random.chance(0.5)) {
            run.say(actor + " leaves the inner acquisition of " + holding);
            leave(holding, second, false);
        } else {
            leaveOuter(holding, second);
        }
    }

    private void leaveOuter(Holding holding, Hold second) {
        Hold outer = holding.hold;
        boolean isDowngrade = holding.resource.isReadWrite() && holding.isAlone() && !holding.isInnerWrite;
        run.say(actor + " leaves the outer acquisition of " + holding + (isDowngrade ? ", and only reads now" : ""));
        hasLeftOuter = true;
        run.holdOracle.keepSecond(holding, second, isDowngrade);
        leave(holding, outer, true);
    }

    private void leave(Holding holding, Hold left, boolean isOuter) {
        inner = null;
        left.releaseAsync().whenComplete((outcome, failure) -> {
            boolean isFine = outcome == ReleaseOutcome.STILL_HELD || outcome == ReleaseOutcome.LOST;
            if (!isFine) {
                run.world.fail(
                        Rule.ONLY_THE_LAST_RELEASE,
                        actor + " left the " + (isOuter ? "outer" : "inner") + " of two acquisitions of " + holding
                                + ", which ended with " + outcome + ", " + failure);
            }
        });
    }

    // ---- Release

    private void finish() {
        Hold second = inner;
        if (second != null) {
            leave(holdings.get(0), second, false);
        }
        holdings.forEach(holding -> {
            if (random.chance(0.5)) {
                run.holdOracle.checkHeld(holding);
            }
        });
        boolean isById = !run.isDraining() && holdings.get(0).hold instanceof Permits && random.chance(run.plan.byId);
        if (isById) {
            letAnotherRelease((Permits) holdings.get(0).hold, holdings.get(0));
        }
        if (intent.endsByItself() && !run.isDraining() && random.chance(run.plan.abandons)) {
            forget();
            actor.think();
        } else if (isById && random.chance(0.7)) {
            client.process().after(random.heavyTail(10_000, run.plan.ttl), this::release);
        } else {
            release();
        }
    }

    private void forget() {
        for (Holding holding : holdings) {
            run.say(actor + " forgets " + holding);
            client.leaves(holding.resource.name(), 2 * run.plan.leaseMax);
        }
    }

    /** Publishes the id to any client, which releases the permits, whatever has happened to this client by then. */
    private void letAnotherRelease(Permits permits, Holding holding) {
        String id;
        try {
            id = permits.permitId();
        } catch (IllegalStateException lost) {
            return;
        }
        run.holdOracle.givesAway(holding);
        run.world.after(random.heavyTail(10_000, run.plan.ttl), () -> {
            List<SimClient> helpers =
                    run.clients().stream().filter(SimClient::isOpen).toList();
            if (helpers.isEmpty()) {
                return;
            }
            SimClient helper = random.oneOf(helpers);
            helper.process().after(0, () -> release(helper, holding, id));
        });
    }

    private void release(SimClient helper, Holding holding, String id) {
        if (!helper.isOpen()) {
            return;
        }
        run.say(helper.name() + " releases " + holding + " by its id");
        helper.subject().release(holding.resource.name(), id).whenComplete((wasReleased, failure) -> {
            Throwable cause = Actor.causeOf(failure);
            if (cause == null) {
                run.holdOracle.releasedById(holding, wasReleased);
            } else if (!(cause instanceof StoreUnavailableException) && !(cause instanceof ClientClosedException)) {
                run.world.fail(Rule.THREE_OUTCOMES, "a release by id ended for no reason that it could have: " + cause);
            }
        });
    }

    private void release() {
        holdings.forEach(holding -> {
            run.say(actor + " releases " + holding);
            client.stopsHolding(holding.resource.name());
            run.holdOracle.releasing(holding);
        });
        long since = run.world.now();
        holdings.forEach(holding -> holding.hold.releaseAsync().whenComplete((outcome, failure) -> {
            if (failure != null) {
                run.world.fail(Rule.RELEASED_IS_GONE, actor + "'s release failed: " + failure);
            } else {
                run.holdOracle.released(holding, outcome, client.hasBeenAloneSince(holding.resource.name(), since));
            }
        }));
        if (random.chance(run.plan.doubleReleases)) {
            Holding holding = random.oneOf(holdings);
            client.process().after(random.heavyTail(1_000, run.plan.ttl), () -> releaseAgain(holding));
        }
        actor.continueAfter(intent);
    }

    private void releaseAgain(Holding holding) {
        run.say(actor + " releases " + holding + " again");
        holding.hold.releaseAsync().whenComplete((outcome, failure) -> {
            if (failure != null) {
                run.world.fail(Rule.ONLY_THE_OWNER, actor + "'s second release failed: " + failure);
            }
        });
    }
}
