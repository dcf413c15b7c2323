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
 * What an actor does with what it was granted: looks, writes to what it guards or reads it, enters again, extends its
 * lease, shares what it had alone; and lets go in time, late, twice, through somebody else or never.
 */
final class Shift {

    private static final long MILLI = 1_000_000;
    private static final long SHORTEST_LEASE = 200 * MILLI;

    private final Run run;
    private final Client client;
    private final Dice dice;
    private final Actor actor;
    private final Wish wish;
    private final List<Hold> holds;
    private final List<Holding> holdings = new ArrayList<>();
    /** The handle of a second acquisition by the same owner, while there is one. */
    private @Nullable Hold inner;

    private boolean hasLeftOuter;

    Shift(Run run, Client client, Dice dice, Actor actor, Wish wish, List<Hold> holds) {
        this.run = run;
        this.client = client;
        this.dice = dice;
        this.actor = actor;
        this.wish = wish;
        this.holds = holds;
    }

    void begin() {
        client.noteGrant();
        for (int i = 0; i < holds.size(); i++) {
            Hold hold = holds.get(i);
            if (client.isClosing() && hold.isHeld()) {
                run.world.fail(Rule.CLOSED, actor + " is granted a lock while its client is being closed");
            }
            client.startsHolding(wish.parts.get(i).resource().name());
            holdings.add(run.judge.granted(client, wish, wish.parts.get(i), hold));
        }
        if (holds.size() > 1) {
            run.reached.hit(Reach.SEVERAL_AT_ONCE);
        }
        work(run.isDraining() ? 0 : dice.below(wish.isExtendable() ? 8 : 4));
    }

    private void work(int steps) {
        long holdMax = run.plan.holdMax;
        if (run.rush().isOn()) {
            holdMax = dice.between(5 * MILLI, 20 * MILLI);
        } else if (run.isDraining()) {
            holdMax = Math.min(holdMax, 5 * MILLI);
        }
        client.process().after(dice.between(0, holdMax / (steps + 1)), () -> {
            if (steps == 0) {
                finish();
                return;
            }
            boolean isHeld = true;
            for (Holding holding : holdings) {
                isHeld &= run.judge.look(holding);
            }
            if (isHeld && wish.isExtendable() && dice.chance(run.plan.extensions)) {
                extend();
            } else if (isHeld && dice.chance(run.plan.reentries)) {
                enterOrLeave();
            } else {
                holdings.forEach(this::use);
            }
            work(isHeld || dice.chance(0.3) ? steps - 1 : 0);
        });
    }

    // ---- Working

    /** Checks, and writes after a moment in which anything may happen. The write then travels by itself. */
    private void use(Holding holding) {
        long token = holding.resource.isSemaphore() ? 0 : run.judge.token(holding);
        if (token == 0) {
            return;
        }
        long checkedAt = run.world.now();
        boolean isWrite = holding.isAlone();
        long moment = dice.chance(0.1) ? dice.heavyTail(MILLI, run.plan.ttl / 2) : dice.heavyTail(1_000, MILLI);
        client.process().after(moment, () -> {
            if (client.process().runningSince() > checkedAt) {
                run.reached.hit(Reach.STOPPED_BETWEEN_CHECK_AND_WRITE);
            }
            Guarded guarded = run.judge.guarded(holding.resource.name());
            run.world.after(run.weather.delay(dice), () -> {
                if (isWrite) {
                    guarded.write(token, holding);
                } else {
                    guarded.read(token, holding);
                }
            });
        });
    }

    private void extend() {
        Duration lease = Duration.ofNanos(dice.between(SHORTEST_LEASE, run.plan.leaseMax));
        Holding holding = dice.oneOf(holdings);
        if (holding.isPartOfSeveral || hasLeftOuter) {
            return;
        }
        run.say(actor + " extends to " + lease);
        client.subject().extend(holding.hold, lease).whenComplete((nothing, failure) -> {
            Throwable cause = Actor.causeOf(failure);
            if (cause == null) {
                run.reached.hit(Reach.EXTENDED);
            } else if (cause instanceof StoreUnavailableException) {
                run.reached.hit(Reach.EXTENSION_UNKNOWN);
            } else if (!(cause instanceof LockLostException)
                    && !(cause instanceof ClientClosedException)
                    && !(cause instanceof IllegalStateException && holding.isReleased)) {
                run.world.fail(
                        Rule.THREE_OUTCOMES, actor + "'s extension ended for no reason that it could have: " + cause);
            }
        });
    }

    /** Enters again what it holds, to read or as before; or leaves one of the two. */
    private void enterOrLeave() {
        Holding holding = holdings.get(0);
        Hold second = inner;
        if (holding.isPartOfSeveral || holding.resource.isSemaphore() || hasLeftOuter) {
            use(holding);
        } else if (second == null) {
            boolean isWrite = holding.isAlone() && holding.resource.isReadWrite() && dice.chance(0.3);
            run.say(actor + " enters " + holding + " again");
            inner = client.subject().enterAgain(holding.hold, isWrite);
            holding.isInnerWrite = isWrite;
        } else if (dice.chance(0.5)) {
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
        run.judge.goesOnWith(holding, second, isDowngrade);
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

    // ---- Letting go

    private void finish() {
        Hold second = inner;
        if (second != null) {
            leave(holdings.get(0), second, false);
        }
        holdings.forEach(holding -> {
            if (dice.chance(0.5)) {
                run.judge.look(holding);
            }
        });
        boolean isById = !run.isDraining() && holdings.get(0).hold instanceof Permits && dice.chance(run.plan.byId);
        if (isById) {
            letAnotherRelease((Permits) holdings.get(0).hold, holdings.get(0));
        }
        if (wish.endsByItself() && !run.isDraining() && dice.chance(run.plan.abandons)) {
            forget();
            actor.think();
        } else if (isById && dice.chance(0.7)) {
            client.process().after(dice.heavyTail(10_000, run.plan.ttl), this::release);
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

    /** Tells the id to any client, which gives the permits back, whatever has become of this one by then. */
    private void letAnotherRelease(Permits permits, Holding holding) {
        String id;
        try {
            id = permits.permitId();
        } catch (IllegalStateException lost) {
            return;
        }
        run.judge.givesAway(holding);
        run.world.after(dice.heavyTail(10_000, run.plan.ttl), () -> {
            List<Client> helpers = run.clients().stream().filter(Client::isOpen).toList();
            if (helpers.isEmpty()) {
                return;
            }
            Client helper = dice.oneOf(helpers);
            helper.process().after(0, () -> release(helper, holding, id));
        });
    }

    private void release(Client helper, Holding holding, String id) {
        if (!helper.isOpen()) {
            return;
        }
        run.say(helper.name() + " releases " + holding + " by its id");
        helper.subject().release(holding.resource.name(), id).whenComplete((wasReleased, failure) -> {
            Throwable cause = Actor.causeOf(failure);
            if (cause == null) {
                run.judge.releasedById(holding, wasReleased);
            } else if (!(cause instanceof StoreUnavailableException) && !(cause instanceof ClientClosedException)) {
                run.world.fail(Rule.THREE_OUTCOMES, "a release by id ended for no reason that it could have: " + cause);
            }
        });
    }

    private void release() {
        holdings.forEach(holding -> {
            run.say(actor + " releases " + holding);
            client.stopsHolding(holding.resource.name());
            run.judge.releasing(holding);
        });
        long since = run.world.now();
        holdings.forEach(holding -> holding.hold.releaseAsync().whenComplete((outcome, failure) -> {
            if (failure != null) {
                run.world.fail(Rule.RELEASED_IS_GONE, actor + "'s release failed: " + failure);
            } else {
                run.judge.released(holding, outcome, client.hasBeenAloneSince(holding.resource.name(), since));
            }
        }));
        if (dice.chance(run.plan.doubleReleases)) {
            Holding holding = dice.oneOf(holdings);
            client.process().after(dice.heavyTail(1_000, run.plan.ttl), () -> releaseAgain(holding));
        }
        actor.goOn(wish);
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
