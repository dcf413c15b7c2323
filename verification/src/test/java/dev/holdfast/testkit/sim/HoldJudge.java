package dev.holdfast.testkit.sim;

import dev.holdfast.Hold;
import dev.holdfast.LockLostException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Knows who believes in which hold, and that no two do that exclude each other, and that tokens rise. */
final class HoldJudge {

    private record Believed(SimProcess process, Hold hold, boolean writes) {}

    private final World world;
    private final Map<String, List<Believed>> inHand = new HashMap<>();
    private final Map<String, Long> newest = new HashMap<>();
    private final Map<String, Long> newestWrite = new HashMap<>();
    int grants;

    HoldJudge(World world) {
        this.world = world;
    }

    void begins(SimProcess process, String resource, Hold hold, boolean writes) {
        long token;
        try {
            token = hold.fencingToken();
        } catch (LockLostException lost) {
            return;
        }
        if (!hold.isHeld()) {
            return;
        }
        grants++;
        if (world.trace().isInWords()) {
            world.say(process + " holds " + resource + " with " + token);
        }
        world.trace().mix(token);
        List<Believed> holds = inHand.computeIfAbsent(resource, unused -> new ArrayList<>());
        for (Believed other : List.copyOf(holds)) {
            SimProcess its = other.process();
            if (its.isDead()) {
                holds.remove(other);
            } else if ((writes || other.writes())
                    && !its.isAsleep()
                    && other.hold().isHeld()) {
                world.fail(
                        Rule.EXCLUSION,
                        process + " holds " + resource + " with token " + token + " while " + its + " holds it");
            }
        }
        long before = newest.getOrDefault(resource, 0L);
        if (writes && token <= before) {
            world.fail(Rule.TOKENS_RISE, resource + " has token " + token + " after " + before);
        }
        newest.put(resource, Math.max(before, token));
        if (writes) {
            newestWrite.put(resource, token);
        }
        holds.add(new Believed(process, hold, writes));
    }

    /** No other client may have held the resource during a hold that was valid to its end. */
    void ends(String resource, Hold hold) {
        if (hold.isHeld() && newestWrite.getOrDefault(resource, 0L) > hold.fencingToken()) {
            world.fail(
                    Rule.EXCLUSION,
                    resource + " is still held with token " + hold.fencingToken() + ", but " + newestWrite.get(resource)
                            + " was given since");
        }
        List<Believed> holds = inHand.get(resource);
        if (holds != null) {
            holds.removeIf(each -> each.hold() == hold);
        }
    }
}
