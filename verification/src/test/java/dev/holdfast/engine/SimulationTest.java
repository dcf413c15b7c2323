package dev.holdfast.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.testkit.sim.CoveragePoint;
import dev.holdfast.testkit.sim.Seeds;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;

/**
 * Whole clients on virtual time, under every fault that the simulation knows: no rule is ever broken. {@code
 * docs/simulation.md} describes the rules, the number of seeds, and how to repeat one.
 */
class SimulationTest {

    /** How many seeds are run against the reference; against the others a part of them. */
    private static final long SEEDS = Long.getLong("holdfast.sim.seeds", 20_000);

    private static final long FIRST = Long.getLong("holdfast.sim.first", 1);

    /** This many seeds reach every situation with a margin; fewer may miss some by chance. */
    private static final long FULL = 10_000;

    @TestFactory
    @DisplayName("No seed breaks a rule, and the seeds together reach every situation")
    Stream<DynamicTest> everySeedKeepsEveryRule() {
        Optional<String> chosen = Optional.ofNullable(System.getProperty("holdfast.sim.store"));
        Long one = Long.getLong("holdfast.sim.seed");
        if (one != null) {
            SimulatedStore store = SimulatedStore.valueOf(chosen.orElse(SimulatedStore.REFERENCE.name()));
            return Stream.of(DynamicTest.dynamicTest("seed " + one + " on " + store, () -> {
                System.out.println("seed " + one + " on " + store + ": "
                        + store.simulation().run(one));
            }));
        }
        return Stream.of(SimulatedStore.values())
                .filter(store -> chosen.isEmpty() || store.name().equals(chosen.get()))
                .map(store -> DynamicTest.dynamicTest(store.toString(), () -> runOn(store)));
    }

    @TestFactory
    @DisplayName("Seeds that have shown an error show none")
    Stream<DynamicTest> seedsOfFormerErrors() {
        return Stream.of(
                // A push after the close, about a grant whose yield was under way, made the client ask the store.
                former(SimulatedStore.REFERENCE, 401_589));
    }

    private static DynamicTest former(SimulatedStore store, long seed) {
        return DynamicTest.dynamicTest(
                "seed " + seed + " on " + store,
                () -> assertThat(store.simulation().run(seed).events()).isPositive());
    }

    private static void runOn(SimulatedStore store) {
        long seeds = Math.max(1, SEEDS / store.share);
        long start = System.nanoTime();
        Seeds.Summary summary = new Seeds(store.simulation()).run(FIRST, seeds);
        double minutes = (double) (System.nanoTime() - start) / TimeUnit.MINUTES.toNanos(1);
        System.out.printf(
                "%s: %d seeds, %d events, %.0f seeds a minute; reached in all:%n%s",
                store, seeds, summary.events(), seeds / minutes, summary.coverage());
        if (store == SimulatedStore.REFERENCE && seeds >= FULL) {
            assertThat(summary.coverage().missing())
                    .as("situations that no seed led to")
                    .containsExactly(CoveragePoint.PART_FAILED, CoveragePoint.SESSION_RESTED);
        } else if (store == SimulatedStore.PARTS && seeds >= FULL / store.share) {
            assertThat(summary.coverage().missing())
                    .doesNotContain(CoveragePoint.PART_FAILED, CoveragePoint.SESSION_RESTED);
        }
    }
}
