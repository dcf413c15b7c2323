package dev.holdfast.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.engine.deadlock.BrokenDeadlockRules;
import dev.holdfast.engine.deadlock.DeadlockRules;
import dev.holdfast.testkit.sim.WaitsRun;
import dev.holdfast.testkit.sim.WaitsRun.Flaw;
import dev.holdfast.testkit.sim.WaitsRun.Profile;
import dev.holdfast.testkit.sim.WaitsRun.Result;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/** The search for deadlocks alone, above a model of clients and of a store: thousands of runs a second. */
@Tag("simulation")
@DisplayName("The search for deadlocks")
class DeadlockSearchTest {

    private static final long SEEDS = Long.getLong("holdfast.deadlock.search.seeds", 400);
    private static final long FIRST = Long.getLong("holdfast.deadlock.search.first", 1);
    private static final long MUTANT_SEEDS = Long.getLong("holdfast.deadlock.mutant.seeds", 1_500);

    private static final DeadlockRules SOUND = new DeadlockRules();

    @ParameterizedTest
    @EnumSource(Profile.class)
    @DisplayName("reports only what existed at one moment, chooses one victim, and finds what lasts in time")
    void random(Profile profile) {
        int reports = run(profile, SEEDS, Flaw.NONE);
        assertThat(reports).as("reports").isGreaterThan((int) SEEDS / 20);
    }

    @Test
    @DisplayName("reports nothing false if a client never removes what it has stated")
    void linesStay() {
        run(Profile.STRESS, SEEDS / 4, Flaw.LINES_STAY);
    }

    private static int run(Profile profile, long seeds, Flaw flaw) {
        long begin = System.nanoTime();
        long events = 0;
        long waits = 0;
        int reports = 0;
        int behindWriters = 0;
        int deadlocks = 0;
        for (long seed = FIRST; seed < FIRST + seeds; seed++) {
            Result result = WaitsRun.run(seed, profile, SOUND, flaw);
            if (!result.falseAlarms().isEmpty() || !result.missed().isEmpty()) {
                WaitsRun.inWords(seed, profile, SOUND, flaw);
                assertThat(result.falseAlarms()).as("%s seed %d", profile, seed).isEmpty();
                assertThat(result.missed()).as("%s seed %d", profile, seed).isEmpty();
            }
            events += result.events();
            waits += result.waits();
            reports += result.reports();
            behindWriters += result.behindWriters();
            deadlocks += result.deadlocks();
        }
        System.out.printf(
                "search for deadlocks, %s, %s: %d seeds in %d ms, %d events, %d waits, %d deadlocked, %d reports, %d"
                        + " with a reader behind a writer%n",
                profile,
                flaw,
                seeds,
                (System.nanoTime() - begin) / 1_000_000,
                events,
                waits,
                deadlocks,
                reports,
                behindWriters);
        return reports;
    }

    @ParameterizedTest
    @MethodSource("dev.holdfast.engine.deadlock.BrokenDeadlockRules#shownBySeeds")
    @DisplayName("is found out if a rule is broken")
    void mutants(BrokenDeadlockRules broken) {
        String found = find(broken);
        System.out.println(broken + ": " + (found.isEmpty() ? "survived" : found));
        assertThat(found).as("%s survived", broken).isNotEmpty();
    }

    private static String find(BrokenDeadlockRules broken) {
        for (long seed = 1; seed <= MUTANT_SEEDS; seed++) {
            for (Profile profile : broken.profiles()) {
                Result result = WaitsRun.run(seed, profile, broken.rules(), broken.flaw());
                String shown = broken.shownBy(result.falseAlarms(), result.missed());
                if (!shown.isEmpty()) {
                    return profile + " seed " + seed + ": " + shown;
                }
            }
        }
        return "";
    }
}
