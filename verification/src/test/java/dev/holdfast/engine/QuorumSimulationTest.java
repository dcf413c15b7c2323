package dev.holdfast.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.engine.client.SafetyRules;
import dev.holdfast.store.quorum.BrokenQuorums;
import dev.holdfast.testkit.sim.ClientUnderTest.Starter;
import dev.holdfast.testkit.sim.QuorumRun;
import dev.holdfast.testkit.sim.QuorumRun.Profile;
import dev.holdfast.testkit.sim.SimulationFailure;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

/** Whole clients on a quorum, under every fault that a minority of members and any network may have. */
@Tag("simulation")
class QuorumSimulationTest {

    private static final long SEEDS = Long.getLong("holdfast.quorum.seeds", 150);
    private static final long REPLACEMENT_SEEDS = Long.getLong("holdfast.quorum.replacement.seeds", 25);
    private static final long FIRST = Long.getLong("holdfast.quorum.first", 1);
    private static final long MUTANT_SEEDS = Long.getLong("holdfast.quorum.mutant.seeds", 6_000);
    private static final Starter STARTER = EngineUnderTest.keeping(new SafetyRules());

    @Test
    @Tag("Q1")
    @Tag("Q4")
    @Tag("Q5")
    @DisplayName("No seed breaks a rule")
    void soundQuorum() {
        run(Profile.FAULTS, SEEDS);
    }

    @Test
    @Tag("Q9")
    @DisplayName("What is held before all members are replaced, one after another, is held after that")
    void replacedMembers() {
        run(Profile.REPLACEMENTS, REPLACEMENT_SEEDS);
    }

    private static void run(Profile profile, long seeds) {
        Long one = Long.getLong("holdfast.quorum.seed");
        if (one != null) {
            System.out.println(QuorumRun.inWords(one, profile, STARTER, BrokenQuorums.SOUND));
            return;
        }
        long start = System.nanoTime();
        long events = 0;
        long grants = 0;
        for (long seed = FIRST; seed < FIRST + seeds; seed++) {
            QuorumRun.Result result = run(seed, profile);
            events += result.events();
            grants += result.grants();
            if (seed % 100 == 0) {
                assertThat(run(seed, profile).hash())
                        .as("seed %d is one run", seed)
                        .isEqualTo(result.hash());
            }
        }
        System.out.printf(
                "quorum, %s: %d seeds, %d events, %d grants, %d ms%n",
                profile, seeds, events, grants, (System.nanoTime() - start) / 1_000_000);
        assertThat(grants).isGreaterThan(seeds);
    }

    private static QuorumRun.Result run(long seed, Profile profile) {
        try {
            return QuorumRun.run(seed, profile, STARTER, BrokenQuorums.SOUND);
        } catch (SimulationFailure failure) {
            return QuorumRun.inWords(seed, profile, STARTER, BrokenQuorums.SOUND);
        }
    }

    @TestFactory
    @DisplayName("A broken quorum is found out")
    Stream<DynamicTest> brokenQuorums() {
        return Stream.of(BrokenQuorums.values())
                .filter(broken -> broken != BrokenQuorums.SOUND)
                .map(broken -> DynamicTest.dynamicTest(broken.name(), () -> {
                    Optional<String> found = find(broken);
                    System.out.println(broken + ": " + found.orElse("survived " + MUTANT_SEEDS + " seeds"));
                    assertThat(found)
                            .as("%s survived %d seeds", broken, MUTANT_SEEDS)
                            .isPresent();
                }));
    }

    private static Profile profile(BrokenQuorums broken) {
        return switch (broken) {
            case NOTHING_REGAINED, REGAINED_WITH_LESSER_TOKENS, REGAINED_AGAINST_OTHERS -> Profile.REPLACEMENTS;
            case VALIDITY_UNCHECKED -> Profile.CUTS;
            default -> Profile.FAULTS;
        };
    }

    /** One is found out by one seed of a thousand: the search begins shortly before one of these. */
    private static long firstSeed(BrokenQuorums broken) {
        return broken == BrokenQuorums.NO_KEEP_OUT ? 2_820 : 1;
    }

    /** Whether it is the broken rule that the seed shows, and not a limit of what a quorum promises. */
    private static boolean isSound(long seed, Profile profile) {
        try {
            var unused = QuorumRun.run(seed, profile, STARTER, BrokenQuorums.SOUND);
            return true;
        } catch (SimulationFailure failure) {
            return false;
        }
    }

    private static Optional<String> find(BrokenQuorums broken) {
        long first = firstSeed(broken);
        for (long seed = first; seed < first + MUTANT_SEEDS; seed++) {
            try {
                var unused = QuorumRun.run(seed, profile(broken), STARTER, broken);
            } catch (SimulationFailure failure) {
                if (isSound(seed, profile(broken))) {
                    return Optional.of("seed " + seed + ", " + failure.getMessage());
                }
            }
        }
        return Optional.empty();
    }
}
