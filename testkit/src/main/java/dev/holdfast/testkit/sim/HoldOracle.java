package dev.holdfast.testkit.sim;

import dev.holdfast.Hold;
import dev.holdfast.LockLostException;
import dev.holdfast.Loss;
import dev.holdfast.ReleaseOutcome;
import dev.holdfast.spi.Kind;
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
 * Checks what the actors see of their holds against the record of the store. It knows the true time and all events, as
 * no part of the real system does.
 */
final class HoldOracle {

    // The window in which a strict lock is handed over in memory: so long at least, and so long after any answer.
    private static final long SHORTEST_WINDOW = 400_000;
    private static final long SLOW_ANSWER = 100_000;

    private final World world;
    private final Plan plan;
    private final StoreOracle storeOracle;
    private final SimServer server;
    private final NetworkConditions network;
    private final Coverage coverage;
    private final LivenessOracle livenessOracle;
    private final Map<String, List<Holding>> inHand = new LinkedHashMap<>();
    private final TokenOracle tokens;
    private final Map<String, Guarded> guarded = new HashMap<>();

    HoldOracle(
            World world,
            Plan plan,
            StoreOracle storeOracle,
            SimServer server,
            NetworkConditions network,
            Coverage coverage) {
        this.world = world;
        this.plan = plan;
        this.storeOracle = storeOracle;
        this.server = server;
        this.network = network;
        this.coverage = coverage;
        this.livenessOracle = new LivenessOracle(world, plan, this);
        this.tokens = new TokenOracle(world, plan, storeOracle, coverage);
        storeOracle.onGrant(this::storeGrants);
    }

    TokenOracle tokens() {
        return tokens;
    }

    Guarded guarded(String resource) {
        return guarded.computeIfAbsent(resource, name -> new Guarded(world, storeOracle, server, coverage, name));
    }

    // ---- The life cycle of a hold

    /** Called when a request of an actor is granted. */
    Holding granted(SimClient client, AcquireIntent intent, AcquireIntent.Part part, Hold hold) {
        String resource = part.resource().name();
        long token;
        try {
            token = hold.fencingToken();
        } catch (LockLostException lost) {
            // It was lost before the actor received it; the loss has its token.
            token = lost.loss().token();
        } catch (IllegalStateException closed) {
            token = 0;
            world.fail(Rule.GIVEN_UP, "a hold arrived closed at " + client.name());
        }
        Holding holding = new Holding(hold, client, intent, part, token, world.now());
        if (world.trace().isInWords()) {
            world.say(holding + " begins");
        }
        world.trace().mix(token);
        checkOrder(holding);
        tokens.begins(holding, intent, part);
        if (hold.isHeld() && plan.isStoreSound() && !storeOracle.wasTakenAway(holding)) {
            checkRoomFor(part.weight(), resource, () -> holding + " begins");
        }
        of(resource).add(holding);
        hold.onLost(loss -> onLoss(holding, loss));
        checkHeld(holding);
        livenessOracle.awaitLoss(holding);
        return holding;
    }

    /**
     * Checks with strict order that a hand-over within a process passes no one who has waited for longer than the
     * window lasts, which counts from a question that was answered before. The owner of the hold learns of it after its
     * callback, which may be late. Requests that waited when the claim was sent are served in any case.
     */
    private void checkOrder(Holding holding) {
        ClaimRecord grant = storeOracle.grantOf(holding);
        if (grant == null || !grant.wasServed || holding.isPartOfSeveral || plan.cohortBudget != 0) {
            return;
        }
        if (holding.intent.askedAt <= holding.client.sentAt(grant.ref)) {
            coverage.hit(CoveragePoint.SERVED_IN_BATCH);
        } else if (holding.resource.kind() == Kind.MUTEX && isUndisturbed(holding)) {
            coverage.hit(CoveragePoint.HANDED_OVER_IN_ORDER);
            SimProcess process = holding.client.process();
            long trip = holding.client.longestPoll();
            long window = Math.max(SHORTEST_WINDOW, Math.max(trip + trip / 2, trip + SLOW_ANSWER));
            long within = process.clock().trueDuration(window) + plan.lateness;
            storeOracle.checkNobodyPassed(process, holding.resource.name(), server.micros(), within);
        }
    }

    /** The owner keeps its second acquisition only, maybe as a reader of what it wrote. */
    void keepSecond(Holding holding, Hold second, boolean isDowngrade) {
        holding.hold = second;
        second.onLost(loss -> onLoss(holding, loss));
        if (isDowngrade) {
            holding.weight = 1;
            coverage.hit(CoveragePoint.DOWNGRADED);
        }
    }

    /** Checks that all holds that claim to be valid leave room for one more. */
    private void checkRoomFor(int weight, String resource, Supplier<String> why) {
        long sum = weight;
        List<Holding> believed = new ArrayList<>();
        for (Holding other : of(resource)) {
            SimProcess process = other.client.process();
            // A machine whose clocks stand still can't know that its hold ended, and does nothing meanwhile.
            if (other.isInHand()
                    && !process.isDead()
                    && !process.isAsleep()
                    && !storeOracle.wasTakenAway(other)
                    && other.hold.isHeld()) {
                sum += other.weight;
                believed.add(other);
            }
        }
        if (sum > storeOracle.greatestCapacity(resource)) {
            world.fail(Rule.EXCLUSION, why.get() + " while " + believed + " last");
        }
    }

    /** Checks whether the owner's hold is valid, and whether it may be. */
    boolean checkHeld(Holding holding) {
        boolean isHeld = holding.hold.isHeld();
        boolean isOver = holding.hold.remaining().isZero();
        if (isHeld) {
            if (holding.isReleased || holding.lossReports > 0 || holding.wasOver) {
                world.fail(Rule.LOST_STAYS_LOST, holding + " says that it is held, after it had ended");
            }
            checkInForce(holding, "says that it is held");
            ClaimRecord grant = storeOracle.grantOf(holding);
            if (grant != null && holding.client.wasToldOfItsEnd(grant)) {
                world.fail(
                        Rule.LOST_STAYS_LOST,
                        holding + " says that it is held, after the store had told its end: " + grant);
            }
            if (holding.wasInDoubt) {
                coverage.hit(CoveragePoint.DOUBT_CLEARED);
                holding.wasInDoubt = false;
            }
            holding.heldAt = world.now();
        } else if (holding.isInHand()) {
            if (isOver && !holding.wasOver && holding.client.process().runningSince() > holding.heldAt) {
                coverage.hit(CoveragePoint.LOST_WHILE_STOPPED);
            }
            if (!isOver && !holding.wasInDoubt) {
                holding.wasInDoubt = true;
                livenessOracle.awaitCertainty(holding);
            }
        }
        holding.wasOver |= isOver;
        return isHeld;
    }

    /** The token that the owner sees; 0 if its hold has ended. */
    long token(Holding holding) {
        if (holding.isPartOfSeveral && holding.lossReports > 0) {
            // Another part may be the lost one.
            return 0;
        }
        boolean wasOver = holding.hold.remaining().isZero();
        try {
            long shown = holding.hold.fencingToken();
            if (holding.isReleased || holding.lossReports > 0 || wasOver) {
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

    private void onLoss(Holding holding, Loss loss) {
        if (world.trace().isInWords()) {
            world.say(holding + " is told its loss: " + loss.cause());
        }
        world.trace().mix(loss.token());
        // A hold that expired before its release is lost, even if that was not detected.
        if (holding.isReleased && !holding.wasOver) {
            world.fail(Rule.LOSS_IS_TOLD, holding + " was released, and then its loss was told: " + loss.cause());
        }
        if (++holding.lossReports > 1) {
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
        if (isUndisturbed(holding) && !isNatural && !storeOracle.wasTakenAway(holding)) {
            world.fail(Rule.HEALTHY_KEEPS, holding + " was lost though nothing was disturbed: " + loss.cause());
        }
        boolean isDetached = holding.binding == Lease.Binding.DETACHED && !holding.isPartOfSeveral;
        if (isDetached && !isNatural && plan.isStoreSound() && isInForce(holding)) {
            world.fail(Rule.DETACHED_LASTS, holding + " was lost though its own lease had not ended: " + loss.cause());
        }
    }

    private boolean isInForce(Holding holding) {
        return storeOracle.isInForce(holding.resource.name(), holding.token, server.micros());
    }

    private void noteLoss(Holding holding, Loss loss) {
        if (holding.client.isWaitingFor(holding.resource.name())) {
            coverage.hit(CoveragePoint.LOST_WITH_LOCAL_QUEUE);
        }
        if (holding.wasInDoubt) {
            coverage.hit(CoveragePoint.DOUBT_ENDED_IN_LOSS);
        }
        if (loss.cause() == Loss.Cause.LEASE_ENDED) {
            coverage.hit(CoveragePoint.LEASE_RAN_OUT);
        } else if (loss.cause() == Loss.Cause.CLIENT_CLOSED) {
            coverage.hit(CoveragePoint.CLOSED_WHILE_HOLDING);
        } else if (loss.cause() == Loss.Cause.REMOVED) {
            coverage.hit(CoveragePoint.REMOVED_BY_FORCE);
        }
    }

    /** Called when the owner releases the hold. */
    void releasing(Holding holding) {
        boolean isAwaited = holding.client.isWaitingFor(holding.resource.name());
        if (holding.lossReports == 0 && holding.hold.remaining().isZero() && isAwaited) {
            coverage.hit(CoveragePoint.HAND_OFF_REFUSED_BY_DEADLINE);
        }
        if (holding.hold.remaining().isZero()) {
            holding.wasOver = true;
            ClaimRecord grant = storeOracle.grantOf(holding);
            // Of several parts, the client does not report which one expired.
            if (grant != null && !holding.isPartOfSeveral) {
                grant.overAt = Math.min(grant.overAt, world.now());
            }
        }
        holding.wasInForce = isInForce(holding);
        holding.isReleased = true;
        of(holding.resource.name()).remove(holding);
        livenessOracle.awaitRelease(holding);
    }

    /** Called with the outcome of the owner's release. */
    void released(Holding holding, ReleaseOutcome outcome, boolean wasAloneAllTheTime) {
        holding.hasEnded = true;
        if (world.trace().isInWords()) {
            world.say(holding + " has ended: " + outcome);
        }
        switch (outcome) {
            case RELEASED -> {
                if (plan.isStoreSound() && !holding.wasInForce && !storeOracle.wasTakenAway(holding)) {
                    world.fail(
                            Rule.RELEASED_IS_GONE,
                            holding + " was released as good to the end, but at the store it had ended before");
                }
                ClaimRecord grant = storeOracle.grantOf(holding);
                // A shared grant is kept for a moment, and others may still be reading.
                if (isInForce(holding) && wasAloneAllTheTime && !holding.resource.isReadWrite()) {
                    world.fail(Rule.RELEASED_IS_GONE, holding + " was released, but the store still keeps " + grant);
                }
            }
            case LOST -> {
                coverage.hit(CoveragePoint.RELEASE_AFTER_LOSS);
                boolean isClosed = holding.client.isClosing() || storeOracle.wasTakenAway(holding);
                if (isUndisturbed(holding) && !holding.wasOver && holding.lossReports == 0 && !isClosed) {
                    checkEndedByLease(holding);
                }
            }
            case UNCONFIRMED -> coverage.hit(CoveragePoint.RELEASE_UNCONFIRMED);
            case STILL_HELD ->
                world.fail(Rule.RELEASED_IS_GONE, holding + " was released, and is said to be held still");
        }
    }

    /** Called when the owner publishes the id of its permits: from now on any client may release them. */
    void givesAway(Holding holding) {
        holding.isGivenAway = true;
        storeOracle.giveAway(holding);
    }

    /** Called with the outcome of a release by id. */
    void releasedById(Holding holding, boolean wasReleased) {
        coverage.hit(wasReleased ? CoveragePoint.RELEASED_BY_ID : CoveragePoint.RELEASED_BY_ID_TOO_LATE);
        if (isInForce(holding) && plan.isStoreSound()) {
            world.fail(
                    Rule.RELEASED_IS_GONE,
                    holding + " was released by its id, but the store still keeps " + storeOracle.grantOf(holding));
        }
    }

    /** Whether no fault affects the resource of a hold, or any of several. */
    private boolean isUndisturbed(Holding holding) {
        return plan.isCalm
                && holding.intent.parts.stream()
                        .allMatch(part -> network.isSpared(server.partitionOf(
                                new ResourceName(part.resource().name()))));
    }

    /** Whether no partition of the store ever fails. */
    boolean isStoreWhole() {
        return network.sparesAllParts();
    }

    private void checkEndedByLease(Holding holding) {
        ClaimRecord grant = storeOracle.grantOf(holding);
        if (grant == null || grant.leaseEndMicros == ClaimRecord.NO_LEASE) {
            world.fail(Rule.HEALTHY_KEEPS, holding + " was lost at its release though nothing was disturbed");
        }
    }

    // ---- Checks at every grant

    /** Called when the store grants a claim, at that instant: valid holds must leave room for it. */
    private void storeGrants(String resource, ClaimRecord grant) {
        if (plan.isStoreSound()) {
            checkRoomFor(grant.weight, resource, () -> "the store grants " + grant);
        }
    }

    private void checkInForce(Holding holding, String what) {
        if (plan.isStoreSound() && !storeOracle.wasTakenAway(holding) && !isInForce(holding)) {
            world.fail(
                    Rule.EXCLUSION,
                    holding + " " + what + ", but at the store its time is over: " + storeOracle.grantOf(holding));
        }
    }

    /** Checks that no hold of a client is valid after it was closed. */
    void checkNothingInHandOf(SimClient client) {
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
