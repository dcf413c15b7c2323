package dev.holdfast.engine.deadlock;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** The walk of one pass: which names to inspect next, and the waits of other clients that were read. */
public final class Walk {

    /** The most names that are inspected: a search that is larger ends without a result. */
    static final int MAX_NAMES = 64;

    private final Set<String> names = new LinkedHashSet<>();
    private final Map<Long, WaitNode> nodes = new LinkedHashMap<>();

    /** The lines as they were read, by wait. */
    private final Map<Long, List<String>> lines = new HashMap<>();

    private boolean isCutOff;

    /** Begins with the names that this client's waits are for; returns those to inspect. */
    public List<String> begin(Iterable<String> awaited) {
        return fresh(awaited);
    }

    /** Adds what an inspection has shown; returns the names to inspect next. */
    public List<String> add(NameState state) {
        List<String> next = new ArrayList<>();
        for (NameState.Holder holder : state.holders()) {
            for (String text : holder.lines()) {
                WaitLine.parse(text).ifPresent(line -> {
                    WaitNode node = nodes.computeIfAbsent(line.id(), id -> new WaitNode(line, null, false));
                    node.holds()
                            .put(
                                    state.name(),
                                    new WaitNode.HeldName(
                                            line.isWriteHold(), line.token(), holder.owner(), line.acks()));
                    node.acks().addAll(line.acks());
                    lines.computeIfAbsent(line.id(), id -> new ArrayList<>()).add(text);
                    next.add(line.awaits());
                });
            }
        }
        return fresh(next);
    }

    private List<String> fresh(Iterable<String> wanted) {
        List<String> fresh = new ArrayList<>();
        for (String name : wanted) {
            if (names.size() < MAX_NAMES && names.add(name)) {
                fresh.add(name);
            } else if (!names.contains(name)) {
                isCutOff = true;
            }
        }
        return fresh;
    }

    /** Whether it has read no wait of another client. */
    public boolean isEmpty() {
        return nodes.isEmpty();
    }

    /** Whether there were more names than it inspects. */
    public boolean isCutOff() {
        return isCutOff;
    }

    /** The greatest order of the waits that were read; 0 if there are none. */
    long newestOrder() {
        return nodes.values().stream()
                .mapToLong(node -> node.line().order())
                .max()
                .orElse(0);
    }

    Map<Long, WaitNode> nodes() {
        return nodes;
    }

    List<String> linesOf(long id) {
        return lines.getOrDefault(id, List.of());
    }
}
