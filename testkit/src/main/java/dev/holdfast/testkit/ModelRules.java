package dev.holdfast.testkit;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.SplittableRandom;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * M: random runs of commands on the store under test and on the reference.
 *
 * <p>A run with a disagreement is shortened as far as possible and reported with its seed. {@value #SEED} set to that
 * seed runs it alone; {@value #RUNS} changes the number of runs.
 */
@Tag("M")
abstract class ModelRules extends ConformanceRules {

    static final String SEED = "holdfast.kit.seed";
    static final String RUNS = "holdfast.kit.runs";

    private static final int STEPS = 60;

    /** How often a failing run is tried with some step left out. */
    private static final int SHORTENINGS = 2_000;

    private int runs;

    @Test
    @DisplayName("M1: random runs are answered as the reference answers them")
    void randomRunsAgreeWithTheReference() {
        Long seed = Long.getLong(SEED);
        if (seed != null) {
            check(seed);
            return;
        }
        // Where the clock can be moved a run costs no time; elsewhere a command may cost a write to a disk.
        int count = Integer.getInteger(RUNS, fixture.randomRuns());
        long start = System.nanoTime();
        for (int i = 0; i < count; i++) {
            check(start + i);
        }
    }

    private void check(long seed) {
        List<Step> steps = Step.draw(new SplittableRandom(seed), STEPS, fixture.traits, fixture.hasClock());
        if (run(steps).finding().isPresent()) {
            Run shortest = shorten(steps);
            throw new AssertionError("The store and the reference went apart: "
                    + shortest.finding().orElse("not again, so it depends on more than the commands")
                    + ".\nThe run, as short as it goes (all of it with -D" + SEED + "=" + seed + "):\n  "
                    + String.join("\n  ", shortest.trace()));
        }
    }

    private record Run(Optional<String> finding, List<String> trace) {}

    private Run run(List<Step> steps) {
        // A failed run may leave claims behind, so each has its own names.
        Lockstep lockstep = new Lockstep(fixture, "run-" + runs++ + "/");
        Optional<String> finding = lockstep.run(steps);
        return new Run(finding, lockstep.trace);
    }

    /** Leaves out what the run goes apart without: halves first, then single steps. */
    private Run shorten(List<Step> failing) {
        List<Step> steps = failing;
        Run shortest = run(steps);
        int tries = 0;
        for (int size = steps.size() / 2; size >= 1; size = size == 1 ? 0 : (size + 1) / 2) {
            for (int from = 0; from < steps.size() && tries < SHORTENINGS; ) {
                List<Step> fewer = new ArrayList<>(steps.subList(0, from));
                fewer.addAll(steps.subList(Math.min(steps.size(), from + size), steps.size()));
                Run shorter = run(fewer);
                tries++;
                if (shorter.finding().isPresent()) {
                    steps = fewer;
                    shortest = shorter;
                } else {
                    from += size;
                }
            }
        }
        return shortest;
    }
}
