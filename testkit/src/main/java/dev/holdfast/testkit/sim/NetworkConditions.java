package dev.holdfast.testkit.sim;

import dev.holdfast.spi.Command;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** The state of the network: faulty during the chaos, sound afterwards. */
final class NetworkConditions {

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

    /** The partitions of the store that sometimes fail. */
    private final Set<Integer> frail = new HashSet<>();

    private boolean isFair;
    private long lastCutLeft;

    NetworkConditions(World world, Plan plan) {
        this.world = world;
        this.plan = plan;
    }

    /** Ends the chaos. What is already under way stays late. */
    void clear() {
        isFair = true;
        cuts.clear();
        outages.clear();
    }

    long delay(SeededRandom random) {
        boolean isLong = !isFair && random.chance(plan.longDelay);
        return isLong ? longDelay(random) : random.between(plan.delayMin, plan.delayMax);
    }

    long longDelay(SeededRandom random) {
        return random.heavyTail(plan.delayMax, 5 * plan.longDelayMax);
    }

    long reconnect(SeededRandom random) {
        return random.heavyTail(plan.delayMin, plan.ttl / 4);
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

    /** Stops a partition of the store for a while; if it is down, it refuses connections. */
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

    /** How long a partition remains stopped. */
    long outLeft(int part) {
        Outage outage = outage(part);
        return outage == null ? 0 : outage.until() - world.now();
    }

    /** Lets a partition fail sometimes. */
    void makeFrail(int part) {
        frail.add(part);
    }

    /** Whether a partition never fails. */
    boolean isSpared(int part) {
        return !frail.contains(part);
    }

    boolean sparesAllParts() {
        return frail.isEmpty();
    }

    /** The remaining time of the last cut that {@link #isCut} found. */
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
    long replyDelay(SeededRandom random) {
        boolean isSlow = !isFair && random.chance(plan.slowReply);
        return isSlow ? random.between(0, plan.ttl) : delay(random);
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

    /** The rate at which harmless commands are delivered twice, at any time. */
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
