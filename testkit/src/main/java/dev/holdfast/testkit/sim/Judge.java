package dev.holdfast.testkit.sim;

import dev.holdfast.Hold;
import dev.holdfast.LockLostException;
import dev.holdfast.Loss;
import dev.holdfast.ReleaseOutcome;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Watches the holds in the hands of the actors, and compares what they are told with what the store has written down. Knows the true time and everything that happens
 * everywhere, as no part of the real system does.
 */
final class Judge {

    private final World world;
    private final Plan plan;
    private final Ledger ledger;
    private final SimServer server;
    private final Reached reached;
    private final Watchman watchman;
    private final Map<String, List<Holding>> inHand = new LinkedHashMap<>();
    private final Map<String, Set<Long>> tokens = new HashMap<>();
    private final Map<String, Long> greatest = new HashMap<>();
    private final Map<String, Guarded> guarded = new HashMap<>();

    Judge(World world, Plan plan, Ledger ledger, SimServer server, Reached reached) {
        this.world = world;
        this.plan = plan;
        this.ledger = ledger;
        this.server = server;
        this.reached = reached;
        this.watchman = new Watchman(world, plan, this);
        ledger.onGrant(this::storeGrants);
    }

    /** The greatest token that anybody has been shown so far: whoever asks from now on gets a greater one. */
    long greatestToken(String resource) {
        return greatest.getOrDefault(resource, 0L);
    }

    Guarded guarded(String resource) {
        return guarded.computeIfAbsent(resource, name -> new Guarded(world, ledger, server, reached, name));
    }

    // ---- The life of a hold

    /** An actor is given a hold that it asked for when the greatest token was the given one. */
    Holding granted(Client client, String resource, Hold hold, long greatestBefore) {
        long token;
        try {
            token = hold.fencingToken();
        } catch (LockLostException lost) {
            // It was lost on its way to the actor; its token stands in the loss.
            token = lost.loss().token();
        } catch (IllegalStateException closed) {
            token = 0;
            world.fail(Rule.GIVEN_UP, "a hold arrived closed at " + client.name());
        }
        Holding holding = new Holding(hold, client, resource, token, world.now());
        if (world.trace().isInWords()) {
            world.say(holding + " begins");
        }
        world.trace().mix(token);
        checkToken(holding, greatestBefore);
        List<Holding> others = of(resource);
        boolean isHeld = hold.isHeld();
        for (Holding other : others) {
            if (isHeld
                    && plan.isStoreSound()
                    && !wasForced(holding)
                    && other.isInHand()
                    && !isBlind(other.client.process())
                    && !wasForced(other)
                    && other.hold.isHeld()) {
                world.fail(Rule.EXCLUSION, holding + " begins while " + other + " lasts");
            }
        }
        others.add(holding);
        hold.onLost(loss -> told(holding, loss));
        look(holding);
        watchman.awaitLoss(holding);
        return holding;
    }

    private void checkToken(Holding holding, long greatestBefore) {
        String resource = holding.resource;
        if (!tokens.computeIfAbsent(resource, name -> new HashSet<>()).add(holding.token)) {
            world.fail(Rule.TOKENS_RISE, holding + " begins, but its token was given before");
        }
        if (plan.isStoreSound() && !wasForced(holding) && holding.token <= greatestBefore) {
            world.fail(
                    Rule.TOKENS_RISE,
                    holding + " begins, but when it was asked for, " + greatestBefore + " had been given");
        }
        greatest.merge(resource, holding.token, Math::max);
        ClaimRecord grant = ledger.grantOf(resource, holding.token);
        if (grant == null) {
            world.fail(Rule.OWN_TOKEN, holding + " begins with a token that the store never gave");
        } else {
            if (grant.session.owner.process() != holding.client.process()) {
                world.fail(Rule.OWN_TOKEN, holding + " begins with a token of another client's grant");
            }
            if (grant.wasServed) {
                reached.hit(Reach.HANDED_ON);
                if (grant.wasOverAtRelease) {
                    world.fail(Rule.NO_LATE_HAND_OFF, holding + " is handed on from a hold that was over");
                }
            }
            grant.wasServed = true;
        }
    }

    /** The owner asks whether it holds; the answer is judged. */
    boolean look(Holding holding) {
        boolean isHeld = holding.hold.isHeld();
        boolean isOver = holding.hold.remaining().isZero();
        if (isHeld) {
            if (holding.isReleased || holding.told > 0 || holding.wasOver) {
                world.fail(Rule.LOST_STAYS_LOST, holding + " says that it is held, after it had ended");
            }
            checkInForce(holding, "says that it is held");
            ClaimRecord grant = ledger.grantOf(holding.resource, holding.token);
            if (grant != null && holding.client.wasToldOfItsEnd(grant)) {
                world.fail(
                        Rule.LOST_STAYS_LOST,
                        holding + " says that it is held, after the store had told its end: " + grant);
            }
            if (holding.wasInDoubt) {
                reached.hit(Reach.DOUBT_CLEARED);
                holding.wasInDoubt = false;
            }
            holding.heldAt = world.now();
        } else if (holding.isInHand()) {
            if (isOver && !holding.wasOver && holding.client.process().runningSince() > holding.heldAt) {
                reached.hit(Reach.LOST_WHILE_STOPPED);
            }
            if (!isOver && !holding.wasInDoubt) {
                holding.wasInDoubt = true;
                watchman.awaitCertainty(holding);
            }
        }
        holding.wasOver |= isOver;
        return isHeld;
    }

    /** The owner asks for the token; 0 if it is told that it has none any more. */
    long token(Holding holding) {
        boolean wasOver = holding.hold.remaining().isZero();
        try {
            long shown = holding.hold.fencingToken();
            if (holding.isReleased || holding.told > 0 || wasOver) {
                world.fail(Rule.OWN_TOKEN, holding + " shows token " + shown + " after it has ended");
            } else if (shown != holding.token) {
                world.fail(Rule.OWN_TOKEN, holding + " now shows token " + shown);
            }
            return shown;
        } catch (LockLostException lost) {
            if (lost.loss().token() != holding.token) {
                world.fail(Rule.OWN_TOKEN, holding + " was lost with another token: " + lost.loss());
            }
            return 0;
        } catch (IllegalStateException closed) {
            if (!holding.isReleased) {
                world.fail(Rule.OWN_TOKEN, holding + " says that it was closed: " + closed.getMessage());
            }
            return 0;
        }
    }

    private void told(Holding holding, Loss loss) {
        if (world.trace().isInWords()) {
            world.say(holding + " is told its loss: " + loss.cause());
        }
        world.trace().mix(loss.token());
        // A hold whose time was over before its release was lost, though nobody had noticed.
        if (holding.isReleased && !holding.wasOver) {
            world.fail(Rule.LOSS_IS_TOLD, holding + " was released, and then its loss was told: " + loss.cause());
        }
        if (++holding.told > 1) {
            world.fail(Rule.LOSS_IS_TOLD, holding + " is told its loss again: " + loss.cause());
        }
        if (holding.hold.isHeld()) {
            world.fail(Rule.LOST_STAYS_LOST, holding + " is told its loss, and says that it is held");
        }
        if (plan.isCalm && loss.cause() != Loss.Cause.LEASE_ENDED && !holding.client.isClosing()) {
            world.fail(Rule.HEALTHY_KEEPS, holding + " was lost though nothing was disturbed: " + loss.cause());
        }
        noteLoss(holding, loss);
        of(holding.resource).remove(holding);
    }

    private void noteLoss(Holding holding, Loss loss) {
        if (holding.client.isWaitingFor(holding.resource)) {
            reached.hit(Reach.LOST_WITH_LOCAL_QUEUE);
        }
        if (holding.wasInDoubt) {
            reached.hit(Reach.DOUBT_ENDED_IN_LOSS);
        }
        if (loss.cause() == Loss.Cause.LEASE_ENDED) {
            reached.hit(Reach.LEASE_RAN_OUT);
        } else if (loss.cause() == Loss.Cause.CLIENT_CLOSED) {
            reached.hit(Reach.CLOSED_WHILE_HOLDING);
        } else if (loss.cause() == Loss.Cause.REMOVED) {
            reached.hit(Reach.REMOVED_BY_FORCE);
        }
    }

    /** The owner lets go. */
    void releasing(Holding holding) {
        if (holding.told == 0 && holding.hold.remaining().isZero() && holding.client.isWaitingFor(holding.resource)) {
            reached.hit(Reach.HAND_OFF_REFUSED_BY_DEADLINE);
        }
        if (holding.hold.remaining().isZero()) {
            holding.wasOver = true;
            ClaimRecord grant = ledger.grantOf(holding.resource, holding.token);
            if (grant != null) {
                grant.wasOverAtRelease = true;
            }
        }
        holding.wasInForce = ledger.isInForce(holding.resource, holding.token, server.micros());
        holding.isReleased = true;
        of(holding.resource).remove(holding);
        watchman.awaitRelease(holding);
    }

    /** The owner is told how its release ended. */
    void released(Holding holding, ReleaseOutcome outcome, boolean wasAloneAllTheTime) {
        holding.hasEnded = true;
        if (world.trace().isInWords()) {
            world.say(holding + " has ended: " + outcome);
        }
        switch (outcome) {
            case RELEASED -> {
                if (plan.isStoreSound() && !holding.wasInForce && !wasForced(holding)) {
                    world.fail(
                            Rule.RELEASED_IS_GONE,
                            holding + " was released as good to the end, but at the store it had ended before");
                }
                ClaimRecord grant = ledger.grantOf(holding.resource, holding.token);
                boolean stands =
                        grant != null && grant.state == ClaimRecord.State.HELD && !grant.isOverTimeAt(server.micros());
                if (stands && wasAloneAllTheTime) {
                    world.fail(Rule.RELEASED_IS_GONE, holding + " was released, but the store still keeps " + grant);
                }
            }
            case LOST -> {
                reached.hit(Reach.RELEASE_AFTER_LOSS);
                if (plan.isCalm && !holding.wasOver && holding.told == 0 && !holding.client.isClosing()) {
                    checkEndedByLease(holding);
                }
            }
            case UNCONFIRMED -> reached.hit(Reach.RELEASE_UNCONFIRMED);
            case STILL_HELD ->
                world.fail(Rule.RELEASED_IS_GONE, holding + " was released, and is said to be held still");
        }
    }

    private void checkEndedByLease(Holding holding) {
        ClaimRecord grant = ledger.grantOf(holding.resource, holding.token);
        if (grant == null || grant.leaseEndMicros == ClaimRecord.NO_LEASE) {
            world.fail(Rule.HEALTHY_KEEPS, holding + " was lost at its release though nothing was disturbed");
        }
    }

    // ---- What is judged without anybody asking

    /** The store gives a resource to a claim, at this instant: nobody else may believe in it now. */
    private void storeGrants(String resource, ClaimRecord grant) {
        if (!plan.isStoreSound()) {
            return;
        }
        for (Holding holding : List.copyOf(of(resource))) {
            SimProcess process = holding.client.process();
            if (holding.isInHand()
                    && !process.isDead()
                    && !isBlind(process)
                    && !wasForced(holding)
                    && holding.hold.isHeld()) {
                world.fail(
                        Rule.EXCLUSION,
                        "the store grants " + grant + " while " + holding + " says that it is held, for "
                                + holding.hold.remaining().toMillis() + " ms more");
            }
        }
    }

    private void checkInForce(Holding holding, String what) {
        if (plan.isStoreSound()
                && !wasForced(holding)
                && !ledger.isInForce(holding.resource, holding.token, server.micros())) {
            world.fail(
                    Rule.EXCLUSION,
                    holding + " " + what + ", but at the store its time is over: "
                            + ledger.grantOf(holding.resource, holding.token));
        }
    }

    /** Looks through all that is in hand: to be called when a client was closed or the run ends. */
    void checkNothingInHandOf(Client client) {
        for (List<Holding> holdings : inHand.values()) {
            for (Holding holding : holdings) {
                if (holding.client == client && holding.isInHand()) {
                    world.fail(Rule.CLOSED, holding + " was not ended by the closing of its client");
                }
            }
        }
    }

    @Nullable
    Holding anyInHand(String resource) {
        for (Holding holding : of(resource)) {
            if (holding.isInHand()) {
                return holding;
            }
        }
        return null;
    }

    /** A machine whose clocks stand still can't know, and asks nothing meanwhile. */
    private static boolean isBlind(SimProcess process) {
        return process.isAsleep();
    }

    /** Whether the grant was taken away behind the client's back: the promise then is to tell it within a ttl, and no more. */
    private boolean wasForced(Holding holding) {
        ClaimRecord grant = ledger.grantOf(holding.resource, holding.token);
        return grant != null && grant.wasForced();
    }

    private List<Holding> of(String resource) {
        return inHand.computeIfAbsent(resource, name -> new ArrayList<>());
    }
}
