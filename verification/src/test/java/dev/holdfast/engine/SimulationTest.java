package dev.holdfast.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.testkit.sim.Seeds;
import dev.holdfast.testkit.sim.SimStore;
import dev.holdfast.testkit.sim.Simulation;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/**
 * Whole clients on virtual time, under every fault that the simulation knows: no rule is ever broken. What the rules
 * are, and how a seed is run again, is told in {@code docs/simulation.md}.
 */
class SimulationTest {

    /** A run of so many seeds reaches every situation with room to spare; a shorter one may miss some by chance. */
    private static final long FULL = 10_000;

    private final Simulation simulation =
            new Simulation(EngineUnderTest.keeping(new SafetyRules()), SimStore::reference);

    @Test
    @DisplayName("No seed breaks a rule, and the seeds together reach every situation")
    void everySeedKeepsEveryRule() {
        Long one = Long.getLong("holdfast.sim.seed");
        if (one != null) {
            System.out.println("seed " + one + ": " + simulation.run(one));
            return;
        }
        Seeds.Summary summary = new Seeds(simulation)
                .run(Long.getLong("holdfast.sim.first", 1), Long.getLong("holdfast.sim.seeds", 20_000));
        System.out.println(summary.seeds() + " seeds, " + summary.events() + " events, reached in how many runs:\n"
                + summary.reached());
        if (summary.seeds() >= FULL) {
            assertThat(summary.reached().missing())
                    .as("situations that no seed led to")
                    .isEmpty();
        }
    }
}
