package dev.holdfast.testkit.sim;

import dev.holdfast.spi.Command;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** The state of the network: rough while the chaos lasts, fair after that. */
final class Weather {

    /** A direction between a client and the store. */
    enum Way {
        OUT,
        BACK
    }

    private record Outage(boolean isDown, long until) {}

    private record Cut(boolean out, boolean back, long until) {}

    private final World world;
    private final Plan plan;
    private final Map<SimLink, Cut> cuts = new HashMap<>();
    private final Map<Integer, Outage> outages = new HashMap<>();

    /** The parts of the store that fail now and then. */
    private final Set<Integer> frail = new HashSet<>();

    private boolean isFair;
    private long lastCutLeft;

    Weather(World world, Plan plan) {
        this.world = world;
        this.plan = plan;
    }

    /** The storm is over. What is already on its way stays late. */
    void clear() {
        isFair = true;
        cuts.clear();
        outages.clear();
    }

    long delay(Dice dice) {
        boolean isLong = !isFair && dice.chance(plan.longDelay);
        return isLong ? longDelay(dice) : dice.between(plan.delayMin, plan.delayMax);
    }

    long longDelay(Dice dice) {
        return dice.heavyTail(plan.delayMax, 5 * plan.longDelayMax);
    }

    long reconnect(Dice dice) {
        return dice.heavyTail(plan.delayMin, plan.ttl / 4);
    }

    void cut(SimLink link, boolean out, boolean back, long duration) {
        cuts.put(link, new Cut(out, back, world.now() + duration));
    }

    boolean isCut(SimLink link, Way way) {
        Cut cut = cuts.isEmpty() ? null : cuts.get(link);
        if (cut == null || world.now() >= cut.until()) {
            return false;
        }
        lastCutLeft = cut.until() - world.now();
        return way == Way.OUT ? cut.out() : cut.back();
    }

    /** A part of the store stands still for a while, or is down: then connections to it are refused. */
    void fail(int part, boolean isDown, long duration) {
        outages.put(part, new Outage(isDown, world.now() + duration));
    }

    private @Nullable Outage outage(int part) {
        Outage outage = outages.isEmpty() ? null : outages.get(part);
        return outage != null && world.now() < outage.until() ? outage : null;
    }

    boolean isOut(int part) {
        return outage(part) != null;
    }

    boolean isDown(int part) {
        Outage outage = outage(part);
        return outage != null && outage.isDown();
    }

    /** For how long a part still stands still. */
    long outLeft(int part) {
        Outage outage = outage(part);
        return outage == null ? 0 : outage.until() - world.now();
    }

    /** A part will fail now and then. */
    void makeFrail(int part) {
        frail.add(part);
    }

    /** Whether a part never fails by itself. */
    boolean isSpared(int part) {
        return !frail.contains(part);
    }

    boolean sparesAllParts() {
        return frail.isEmpty();
    }

    /** How long the cut lasts that was found last. */
    long cutLeft() {
        return lastCutLeft;
    }

    double requestLoss() {
        return isFair ? 0 : plan.requestLoss;
    }

    double replyLoss() {
        return isFair ? 0 : plan.replyLoss;
    }

    /** How long an answer travels. */
    long replyDelay(Dice dice) {
        boolean isSlow = !isFair && dice.chance(plan.slowReply);
        return isSlow ? dice.between(0, plan.ttl) : delay(dice);
    }

    double refusal() {
        return isFair ? 0 : plan.refusal;
    }

    double breaking() {
        return isFair ? 0 : plan.breaking;
    }

    double lateCopy() {
        return plan.lateCopy;
    }

    /** How often a command is delivered a second time of which no copy does harm, at any time. */
    double harmlessCopy(Command command) {
        if (isFair || command instanceof Command.Claiming) {
            return 0;
        }
        // Extensions are rare, and the order of two of them is worth a test.
        return command instanceof Command.Extend ? 4 * plan.harmlessCopy : plan.harmlessCopy;
    }

    double signalLoss() {
        return isFair ? 0 : plan.signalLoss;
    }

    double signalCopy() {
        return isFair ? 0 : plan.signalCopy;
    }

    double inline() {
        return plan.inline;
    }
}
