package dev.holdfast.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.holdfast.engine.client.SafetyRules;
import dev.holdfast.store.memory.BrokenStores;
import dev.holdfast.testkit.sim.Seeds;
import dev.holdfast.testkit.sim.Simulation;
import dev.holdfast.testkit.sim.SimulationFailure;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** What one seed has shown can be seen again, by anybody. */
class ReplayTest {

    private static final int SEEDS = 25;

    @Test
    @DisplayName("A seed that fails says how to run it again, and fails again in the same event, line by line")
    void failureIsTheSameAgain() {
        Simulation simulation = new Simulation(
                EngineUnderTest.keeping(new SafetyRules()),
                BrokenStores::sessionsEndEarly,
                seed -> "replay " + seed + " like this");
        long seed = new Seeds(simulation).find(1, 1_000).orElseThrow().seed();

        SimulationFailure first = catchThrowableOfType(SimulationFailure.class, () -> simulation.run(seed));
        SimulationFailure second = catchThrowableOfType(SimulationFailure.class, () -> simulation.run(seed));

        assertThat(first).hasMessageStartingWith("seed " + seed + ": " + first.rule() + " broken");
        assertThat(first).hasMessageEndingWith("run it again: replay " + seed + " like this");
        assertThat(first.getMessage().lines()).hasSizeGreaterThan(10);
        assertThat(second).hasMessage(first.getMessage());
    }

    @Test
    @DisplayName("A seed is the same run in another JVM")
    void runsAreTheSameInAnotherJvm() throws IOException, InterruptedException {
        // Another hash code for every object: an order that rests on them would be another one.
        Process other = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-XX:+UnlockExperimentalVMOptions",
                        "-XX:hashCode=0",
                        "-cp",
                        System.getProperty("java.class.path"),
                        Hashes.class.getName())
                .redirectError(ProcessBuilder.Redirect.DISCARD)
                .start();
        String there = new String(other.getInputStream().readAllBytes(), StandardCharsets.UTF_8);

        assertThat(other.waitFor()).isZero();
        assertThat(there).isEqualTo(Hashes.ofAll());
    }

    /** Prints the trace hashes of some seeds. */
    static final class Hashes {

        private Hashes() {}

        static String ofAll() {
            StringBuilder text = new StringBuilder();
            for (SimulatedStore store : SimulatedStore.values()) {
                for (long seed = 1; seed <= SEEDS; seed++) {
                    text.append(store)
                            .append(' ')
                            .append(seed)
                            .append(' ')
                            .append(store.simulation().run(seed).hash())
                            .append('\n');
                }
            }
            return text.toString();
        }

        public static void main(String[] args) {
            System.out.print(ofAll());
        }
    }
}
