package dev.holdfast.testkit.sim;

import dev.holdfast.Hold;
import dev.holdfast.LockLostException;
import dev.holdfast.Loss;
import dev.holdfast.ReleaseOutcome;
import dev.holdfast.spi.Lease;
import dev.holdfast.spi.ResourceName;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Watches the holds in the hands of the actors, and compares what they are told with what the store has written down.
 * Knows the true time and everything that happens everywhere, as no part of the real system does.
 */
final class Judge {

    private final World world;
    private final Plan plan;
    private final Ledger ledger;
    private final SimServer server;
    private final Weather weather;
    private final Reached reached;
    private final Watchman watchman;
    private final Map<String, List<Holding>> inHand = new LinkedHashMap<>();
    private final TokenJudge tokens;
    private final Map<String, Guarded> guarded = new HashMap<>();

    Judge(World world, Plan plan, Ledger ledger, SimServer server, Weather weather, Reached reached) {
        this.world = world;
        this.plan = plan;
        this.ledger = ledger;
        this.server = server;
        this.weather = weather;
        this.reached = reached;
        this.watchman = new Watchman(world, plan, this);
        this.tokens = new TokenJudge(world, plan, ledger, reached);
        ledger.onGrant(this::storeGrants);
    }

    TokenJudge tokens() {
        return tokens;
    }

    Guarded guarded(String resource) {
        return guarded.computeIfAbsent(resource, name -> new Guarded(world, ledger, server, reached, name));
    }

    // ---- The life of a hold

    /** An actor is given what it asked for. */
    Holding granted(Client client, Wish wish, Wish.Part part, Hold hold) {
        String resource = part.resource().name();
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
        Holding holding = new Holding(hold, client, wish, part, token, world.now());
        if (world.trace().isInWords()) {
            world.say(holding + " begins");
        }
        world.trace().mix(token);
        tokens.begins(holding, wish, part);
        if (hold.isHeld() && plan.isStoreSound() && !ledger.wasTakenAway(holding)) {
            checkRoomFor(part.weight(), resource, () -> holding + " begins");
        }
        of(resource).add(holding);
        hold.onLost(loss -> told(holding, loss));
        look(holding);
        watchman.awaitLoss(holding);
        return holding;
    }

    /** The owner goes on with its second acquisition alone, maybe to read what it wrote. */
    void goesOnWith(Holding holding, Hold second, boolean isDowngrade) {
        holding.hold = second;
        second.onLost(loss -> told(holding, loss));
        if (isDowngrade) {
            holding.weight = 1;
            reached.hit(Reach.DOWNGRADED);
        }
    }

    /** All who believe in a hold now must leave room for one more. */
    private void checkRoomFor(int weight, String resource, Supplier<String> why) {
        long sum = weight;
        List<Holding> believed = new ArrayList<>();
        for (Holding other : of(resource)) {
            SimProcess process = other.client.process();
            // A machine whose clocks stand still can't know, and asks nothing meanwhile.
            if (other.isInHand()
                    && !process.isDead()
                    && !process.isAsleep()
                    && !ledger.wasTakenAway(other)
                    && other.hold.isHeld()) {
                sum += other.weight;
                believed.add(other);
            }
        }
        if (sum > ledger.greatestCapacity(resource)) {
            world.fail(Rule.EXCLUSION, why.get() + " while " + believed + " last");
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
            ClaimRecord grant = ledger.grantOf(holding);
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
        if (holding.isPartOfSeveral && holding.told > 0) {
            // The part that was lost may be another.
            return 0;
        }
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
        checkCause(holding, loss);
        noteLoss(holding, loss);
        of(holding.resource.name()).remove(holding);
    }

    private void checkCause(Holding holding, Loss loss) {
        boolean isNatural = loss.cause() == Loss.Cause.LEASE_ENDED || loss.cause() == Loss.Cause.CLIENT_CLOSED;
        if (isUndisturbed(holding) && !isNatural && !ledger.wasTakenAway(holding)) {
            world.fail(Rule.HEALTHY_KEEPS, holding + " was lost though nothing was disturbed: " + loss.cause());
        }
        boolean isDetached = holding.binding == Lease.Binding.DETACHED && !holding.isPartOfSeveral;
        if (isDetached && !isNatural && plan.isStoreSound() && isInForce(holding)) {
            world.fail(Rule.DETACHED_LASTS, holding + " was lost though its own lease had not ended: " + loss.cause());
        }
    }

    private boolean isInForce(Holding holding) {
        return ledger.isInForce(holding.resource.name(), holding.token, server.micros());
    }

    private void noteLoss(Holding holding, Loss loss) {
        if (holding.client.isWaitingFor(holding.resource.name())) {
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
        boolean isAwaited = holding.client.isWaitingFor(holding.resource.name());
        if (holding.told == 0 && holding.hold.remaining().isZero() && isAwaited) {
            reached.hit(Reach.HAND_OFF_REFUSED_BY_DEADLINE);
        }
        if (holding.hold.remaining().isZero()) {
            holding.wasOver = true;
            ClaimRecord grant = ledger.grantOf(holding);
            // Of several, which one was over is not told.
            if (grant != null && !holding.isPartOfSeveral) {
                grant.overAt = Math.min(grant.overAt, world.now());
            }
        }
        holding.wasInForce = isInForce(holding);
        holding.isReleased = true;
        of(holding.resource.name()).remove(holding);
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
                if (plan.isStoreSound() && !holding.wasInForce && !ledger.wasTakenAway(holding)) {
                    world.fail(
                            Rule.RELEASED_IS_GONE,
                            holding + " was released as good to the end, but at the store it had ended before");
                }
                ClaimRecord grant = ledger.grantOf(holding);
                // Readers keep what they share for a moment, and others may still be reading.
                if (isInForce(holding) && wasAloneAllTheTime && !holding.resource.isReadWrite()) {
                    world.fail(Rule.RELEASED_IS_GONE, holding + " was released, but the store still keeps " + grant);
                }
            }
            case LOST -> {
                reached.hit(Reach.RELEASE_AFTER_LOSS);
                boolean isClosed = holding.client.isClosing() || ledger.wasTakenAway(holding);
                if (isUndisturbed(holding) && !holding.wasOver && holding.told == 0 && !isClosed) {
                    checkEndedByLease(holding);
                }
            }
            case UNCONFIRMED -> reached.hit(Reach.RELEASE_UNCONFIRMED);
            case STILL_HELD ->
                world.fail(Rule.RELEASED_IS_GONE, holding + " was released, and is said to be held still");
        }
    }

    /** The owner tells the id of its permits: from now on anybody may give them back. */
    void givesAway(Holding holding) {
        holding.isGivenAway = true;
        ledger.giveAway(holding);
    }

    /** Somebody was told how a release by id ended. */
    void releasedById(Holding holding, boolean wasReleased) {
        reached.hit(wasReleased ? Reach.RELEASED_BY_ID : Reach.RELEASED_BY_ID_TOO_LATE);
        if (isInForce(holding) && plan.isStoreSound()) {
            world.fail(
                    Rule.RELEASED_IS_GONE,
                    holding + " was released by its id, but the store still keeps " + ledger.grantOf(holding));
        }
    }

    /** Whether nothing goes wrong with what it is a hold of; of several, with any of them. */
    private boolean isUndisturbed(Holding holding) {
        return plan.isCalm
                && holding.wish.parts.stream()
                        .allMatch(part -> weather.isSpared(server.partitionOf(
                                new ResourceName(part.resource().name()))));
    }

    /** Whether all parts of the store go on without a break. */
    boolean isStoreWhole() {
        return weather.sparesAllParts();
    }

    private void checkEndedByLease(Holding holding) {
        ClaimRecord grant = ledger.grantOf(holding);
        if (grant == null || grant.leaseEndMicros == ClaimRecord.NO_LEASE) {
            world.fail(Rule.HEALTHY_KEEPS, holding + " was lost at its release though nothing was disturbed");
        }
    }

    // ---- What is judged without anybody asking

    /** The store gives a resource to a claim, at this instant: nobody may believe in more than what is left. */
    private void storeGrants(String resource, ClaimRecord grant) {
        if (plan.isStoreSound()) {
            checkRoomFor(grant.weight, resource, () -> "the store grants " + grant);
        }
    }

    private void checkInForce(Holding holding, String what) {
        if (plan.isStoreSound() && !ledger.wasTakenAway(holding) && !isInForce(holding)) {
            world.fail(
                    Rule.EXCLUSION,
                    holding + " " + what + ", but at the store its time is over: " + ledger.grantOf(holding));
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

    private List<Holding> of(String resource) {
        return inHand.computeIfAbsent(resource, name -> new ArrayList<>());
    }
}
