package dev.holdfast.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.engine.client.SafetyRules;
import dev.holdfast.store.register.RegisterTraits.Clock;
import dev.holdfast.store.register.client.BrokenRegisterClients;
import dev.holdfast.testkit.sim.BrokenRegisters;
import dev.holdfast.testkit.sim.ClientUnderTest.Starter;
import dev.holdfast.testkit.sim.RegisterRun;
import dev.holdfast.testkit.sim.SimulationFailure;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Whole clients on a register, whose writes compete, are lost, and come late. */
@Tag("simulation")
class RegisterSimulationTest {

    private static final long SEEDS = Long.getLong("holdfast.register.seeds", 100);
    private static final long FIRST = Long.getLong("holdfast.register.first", 1);
    private static final long MUTANT_SEEDS = Long.getLong("holdfast.register.mutant.seeds", 3_000);
    private static final Starter STARTER = EngineUnderTest.keeping(new SafetyRules());

    @ParameterizedTest
    @EnumSource
    @DisplayName("No seed breaks a rule")
    void soundRegister(Clock clock) {
        Long one = Long.getLong("holdfast.register.seed");
        if (one != null) {
            System.out.println(RegisterRun.inWords(one, clock, STARTER, BrokenRegisters.SOUND));
            return;
        }
        long events = 0;
        long grants = 0;
        long takenIn = 0;
        int mostPassed = 0;
        long unlucky = 0;
        for (long seed = FIRST; seed < FIRST + SEEDS; seed++) {
            RegisterRun.Result result = run(seed, clock);
            events += result.events();
            grants += result.grants();
            takenIn += result.takenIn();
            mostPassed = Math.max(mostPassed, result.mostPassed());
            unlucky += result.isUnlucky() ? 1 : 0;
            if (seed % 50 == 0) {
                assertThat(run(seed, clock).hash())
                        .as("seed %d is one run", seed)
                        .isEqualTo(result.hash());
            }
        }
        System.out.printf(
                "register, %s: %d seeds, %d events, %d grants, %d arrivals taken in, passed by %d turns at most%n",
                clock, SEEDS, events, grants, takenIn, mostPassed);
        assertThat(grants).isGreaterThan(SEEDS);
        assertThat(takenIn).as("arrivals that were taken in").isPositive();
        assertThat(unlucky)
                .as("runs in which a client lost more often than twice, of %d", SEEDS)
                .isLessThanOrEqualTo(SEEDS / 100);
    }

    private static RegisterRun.Result run(long seed, Clock clock) {
        try {
            return RegisterRun.run(seed, clock, STARTER, BrokenRegisters.SOUND, BrokenRegisterClients.SOUND);
        } catch (SimulationFailure failure) {
            return RegisterRun.inWords(seed, clock, STARTER, BrokenRegisters.SOUND);
        }
    }

    @TestFactory
    @DisplayName("A broken server is found out")
    Stream<DynamicTest> brokenServers() {
        return Stream.of(BrokenRegisters.values())
                .filter(broken -> broken != BrokenRegisters.SOUND)
                .map(broken -> DynamicTest.dynamicTest(broken.name(), () -> {
                    Optional<String> found = find(broken, broken.clock(), STARTER, BrokenRegisterClients.SOUND);
                    System.out.println(broken + ": " + found.orElse("survived " + MUTANT_SEEDS + " seeds"));
                    assertThat(found)
                            .as("%s survived %d seeds", broken, MUTANT_SEEDS)
                            .isPresent();
                }));
    }

    @Test
    @DisplayName("A client that competes for ever, however often it loses, is found out")
    void neverAnnounces() {
        BrokenRegisterClients broken = BrokenRegisterClients.NEVER_ANNOUNCES;
        Optional<String> found = find(BrokenRegisters.SOUND, Clock.REVISIONS, STARTER, broken);
        System.out.println(broken + ": " + found.orElse("survived " + MUTANT_SEEDS + " seeds"));
        assertThat(found).hasValueSatisfying(what -> assertThat(what).contains("C17"));
    }

    @ParameterizedTest
    @EnumSource
    @DisplayName("A client that counts a grant from its answer, however late that is, is found out")
    void grantFromALateAnswer(Clock clock) {
        Optional<String> found =
                find(BrokenRegisters.SOUND, clock, BrokenClients.deadlineFromTheReply(), BrokenRegisterClients.SOUND);
        System.out.println(
                "a grant from a late answer, " + clock + ": " + found.orElse("survived " + MUTANT_SEEDS + " seeds"));
        assertThat(found).isPresent();
    }

    private static Optional<String> find(
            BrokenRegisters broken, Clock clock, Starter starter, BrokenRegisterClients clients) {
        for (long seed = 1; seed <= MUTANT_SEEDS; seed++) {
            try {
                var unused = RegisterRun.run(seed, clock, starter, broken, clients);
            } catch (SimulationFailure failure) {
                return Optional.of("seed " + seed + ", " + failure.getMessage());
            }
        }
        return Optional.empty();
    }
}
