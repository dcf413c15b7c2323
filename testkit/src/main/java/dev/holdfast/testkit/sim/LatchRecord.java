package dev.holdfast.testkit.sim;

import dev.holdfast.spi.Command;
import dev.holdfast.spi.Reply;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** The {@link StoreOracle}'s record of one latch: its generations, who began them, and which ids counted. */
final class LatchRecord {

    /** One generation, from its setting on. */
    private static final class Generation {
        final long number;
        final long count;
        final SimProcess setter;
        final long begunAt;
        final Set<String> counted = new HashSet<>();
        long remaining;

        /** Its setter has learned that it set the count. */
        boolean isClaimed;

        Generation(Command.SetCount command, SimProcess setter, long begunAt) {
            this.number = command.generation();
            this.count = command.count();
            this.remaining = command.count();
            this.setter = setter;
            this.begunAt = begunAt;
        }
    }

    private final World world;
    private final Coverage coverage;
    private final String name;
    private final List<Generation> generations = new ArrayList<>();
    /** When the count-downs of each id ended. */
    private final Map<String, Long> ended = new HashMap<>();

    private @Nullable Generation present;
    /** When it was last open, in true time, while it counts. */
    private long openUntil;

    private boolean wasForgotten;

    LatchRecord(World world, Coverage coverage, String name) {
        this.world = world;
        this.coverage = coverage;
        this.name = name;
    }

    // ---- What the store does

    /** Called after the store has executed a command on this latch. */
    void applied(Command command, Reply reply, SimProcess from) {
        if (!(reply instanceof Reply.Count reported)) {
            return;
        }
        if (command instanceof Command.SetCount set) {
            set(set, from);
            check(reported, Rule.SET_ONCE, "was to be set to " + set.count());
        } else if (command instanceof Command.CountDown down) {
            check(reported, count(down), "was counted down by " + down.id());
        }
    }

    private void set(Command.SetCount command, SimProcess from) {
        Generation before = present;
        if (!isOpen()) {
            coverage.hit(CoveragePoint.LATCH_SET_ALREADY);
        } else if (before == null || command.generation() > before.number) {
            openUntil = world.now();
            Generation fresh = new Generation(command, from, world.now());
            generations.add(fresh);
            present = fresh;
        }
    }

    /** Counts, and returns the rule that is broken if the store counts differently. */
    private Rule count(Command.CountDown command) {
        Generation counting = present;
        if (counting == null || command.generation() != counting.number) {
            if (command.generation() != 0) {
                coverage.hit(CoveragePoint.COUNTED_TOO_LATE);
            }
            return Rule.COUNTS_ITS_GENERATION;
        } else if (counting.remaining == 0) {
            return Rule.COUNTED_TO_ZERO;
        } else if (!counting.counted.add(command.id())) {
            coverage.hit(CoveragePoint.COUNTED_AGAIN);
            return Rule.COUNTED_ONCE;
        }
        if (ended.getOrDefault(command.id(), Long.MAX_VALUE) < firstBegunAt(counting.number)) {
            world.fail(
                    Rule.COUNTS_ITS_OWN,
                    command.id() + " has counted down " + name + ", which was set after that call had ended");
        }
        counting.remaining = Math.max(0, counting.remaining - command.n());
        return Rule.COUNTED_TO_ZERO;
    }

    /** When a generation began first: after a loss of data, a repeated setting may begin it again. */
    private long firstBegunAt(long number) {
        return generations.stream()
                .filter(each -> each.number == number)
                .mapToLong(each -> each.begunAt)
                .min()
                .orElseThrow();
    }

    private void check(Reply.Count reported, Rule rule, String what) {
        Generation now = present;
        long number = now == null ? 0 : now.number;
        long remaining = now == null ? 0 : now.remaining;
        if (reported.generation() != number || reported.remaining() != remaining) {
            world.fail(
                    rule,
                    name + " " + what + ", which makes " + remaining + " in generation " + number + ", but it says "
                            + reported);
        }
    }

    /** Called when the store has lost its data. */
    void forget() {
        present = null;
        wasForgotten = true;
    }

    // ---- Questions

    boolean isOpen() {
        Generation now = present;
        return now == null || now.remaining == 0;
    }

    /** Whether it was open at any time since an instant. */
    boolean wasOpenSince(long instant) {
        return isOpen() || openUntil >= instant;
    }

    // ---- Outcomes for callers

    /**
     * Called when a call that sets the count has ended for its caller, which has no other under way.
     *
     * @param count the count, which no other caller of its process sets
     * @param since when the call began
     * @param wasEverUnknown whether an earlier call may still act
     */
    void setEnded(boolean isSetter, long count, SimProcess by, long since, boolean wasEverUnknown) {
        Generation own = null;
        for (Generation each : generations) {
            if (each.setter == by && each.count == count && each.begunAt >= since && !each.isClaimed) {
                own = each;
            }
        }
        if (isSetter && own == null) {
            world.fail(Rule.ONE_SETTER, by + " is told that it has set " + name + ", but it has not");
        } else if (!isSetter && own != null && !wasEverUnknown && !wasForgotten) {
            world.fail(Rule.ONE_SETTER, by + " is told that it has not set " + name + ", but it has");
        } else if (own != null) {
            own.isClaimed = true;
        }
    }

    /** Called when a count-down begins. */
    void begins(String id) {
        ended.remove(id);
    }

    /** Called when a count-down has ended: from now on its id counts in no generation that begins later. */
    void ends(String id) {
        ended.put(id, world.now());
    }

    /** Called when a count-down succeeded: in a generation that lasted all the time it must have counted. */
    void counted(String id, long since) {
        Generation now = present;
        if (now == null || now.remaining == 0 || now.begunAt >= since || wasForgotten) {
            return;
        }
        if (!now.counted.contains(id)) {
            world.fail(Rule.COUNTED, id + " is said to have counted down " + name + ", but has not");
        }
    }
}
