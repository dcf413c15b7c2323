package dev.holdfast.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.engine.deadlock.BrokenDeadlockRules;
import dev.holdfast.engine.deadlock.DeadlockRules;
import dev.holdfast.testkit.sim.DeadlockRun;
import dev.holdfast.testkit.sim.DeadlockRun.Profile;
import dev.holdfast.testkit.sim.DeadlockRun.Result;
import java.util.List;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Whole engines whose threads nest locks in any order: deadlocks are reported, and nothing else is. */
@Tag("simulation")
class DeadlockSimulationTest {

    private static final long SEEDS = Long.getLong("holdfast.deadlock.seeds", 100);
    private static final long FIRST = Long.getLong("holdfast.deadlock.first", 1);

    private static final DeadlockRules SOUND = new DeadlockRules();

    @Test
    @DisplayName("Every report of a random run is true, and no thread stays deadlocked without one")
    void random() {
        int reports = run(Profile.RANDOM, SEEDS);
        assertThat(reports).as("reports").isGreaterThan((int) SEEDS / 10);
    }

    @Test
    @DisplayName("Every report is true under stress: short waits, long delays, and faults all the time")
    void stress() {
        int reports = run(Profile.STRESS, SEEDS / 2);
        assertThat(reports).as("reports").isGreaterThan((int) SEEDS / 20);
    }

    @Test
    @DisplayName("Nothing is sent while no thread holds anything and waits")
    void flat() {
        long commands = 0;
        for (long seed = FIRST; seed < FIRST + SEEDS / 10; seed++) {
            Result result = DeadlockRun.run(seed, Profile.FLAT, SOUND);
            commands += result.commands();
            assertThat(result.reports()).isZero();
        }
        assertThat(commands).isZero();
    }

    private static int run(Profile profile, long seeds) {
        long events = 0;
        long waits = 0;
        int reports = 0;
        int behindWriters = 0;
        int deadlocked = 0;
        for (long seed = FIRST; seed < FIRST + seeds; seed++) {
            Result result = DeadlockRun.run(seed, profile, SOUND);
            if (!result.falseAlarms().isEmpty() || !result.missed().isEmpty()) {
                Result again = DeadlockRun.inWords(seed, profile, SOUND);
                again.trace().forEach(System.out::println);
                assertThat(result.falseAlarms()).as("seed %d", seed).isEmpty();
                assertThat(result.missed()).as("seed %d", seed).isEmpty();
            }
            events += result.events();
            waits += result.waits();
            reports += result.reports();
            behindWriters += result.behindWriters();
            deadlocked += result.deadlocked();
        }
        System.out.printf(
                "deadlocks, %s: %d seeds, %d events, %d waits, %d of them deadlocked for a second, %d reports,"
                        + " %d with a reader behind a writer%n",
                profile, seeds, events, waits, deadlocked, reports, behindWriters);
        return reports;
    }

    @ParameterizedTest
    @EnumSource(names = {"NO_CONFIRMATION", "LEASES_ARE_EDGES", "ONLY_ONE_PASS"})
    @DisplayName("A broken rule is found out here too, so the oracle is not blind")
    void mutants(BrokenDeadlockRules broken) {
        assertThat(find(broken)).as("%s survived", broken).isNotEmpty();
    }

    private static String find(BrokenDeadlockRules broken) {
        for (long seed = 1; seed <= SEEDS; seed++) {
            for (Profile profile :
                    broken.isFalseAlarm() ? List.of(Profile.STRESS, Profile.RANDOM) : List.of(Profile.RANDOM)) {
                Result result = DeadlockRun.run(seed, profile, broken.rules());
                String shown = broken.shownBy(result.falseAlarms(), result.missed());
                if (!shown.isEmpty()) {
                    return profile + " seed " + seed + ": " + shown;
                }
            }
        }
        return "";
    }
}
