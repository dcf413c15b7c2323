package dev.holdfast.testkit.sim;

import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;

/** How often each of the {@linkplain CoveragePoint situations} was reached. */
public final class Coverage {

    private final Map<CoveragePoint, Long> counts = new EnumMap<>(CoveragePoint.class);

    Coverage() {}

    void hit(CoveragePoint what) {
        counts.merge(what, 1L, Long::sum);
    }

    void addAll(Coverage other) {
        other.counts.forEach((what, count) -> counts.merge(what, count, Long::sum));
    }

    /** How often a situation was reached. */
    public long count(CoveragePoint what) {
        return counts.getOrDefault(what, 0L);
    }

    /** What was never reached. */
    public List<CoveragePoint> missing() {
        List<CoveragePoint> missing = new ArrayList<>();
        for (CoveragePoint what : CoveragePoint.values()) {
            if (count(what) == 0) {
                missing.add(what);
            }
        }
        return missing;
    }

    @Override
    public String toString() {
        StringBuilder text = new StringBuilder();
        for (CoveragePoint what : CoveragePoint.values()) {
            text.append(String.format("  %-34s %d%n", what, count(what)));
        }
        return text.toString();
    }
}
