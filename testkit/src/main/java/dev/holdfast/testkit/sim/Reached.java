package dev.holdfast.testkit.sim;

import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;

/** How often each of the {@linkplain Reach situations} was reached. */
public final class Reached {

    private final Map<Reach, Long> counts = new EnumMap<>(Reach.class);

    Reached() {}

    void hit(Reach what) {
        counts.merge(what, 1L, Long::sum);
    }

    void addAll(Reached other) {
        other.counts.forEach((what, count) -> counts.merge(what, count, Long::sum));
    }

    /** How often a situation was reached. */
    public long count(Reach what) {
        return counts.getOrDefault(what, 0L);
    }

    /** What was never reached. */
    public List<Reach> missing() {
        List<Reach> missing = new ArrayList<>();
        for (Reach what : Reach.values()) {
            if (count(what) == 0) {
                missing.add(what);
            }
        }
        return missing;
    }

    @Override
    public String toString() {
        StringBuilder text = new StringBuilder();
        for (Reach what : Reach.values()) {
            text.append(String.format("  %-34s %d%n", what, count(what)));
        }
        return text.toString();
    }
}
