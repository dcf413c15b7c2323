package dev.holdfast.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.store.memory.BrokenStores;
import dev.holdfast.testkit.sim.ClientUnderTest.Starter;
import dev.holdfast.testkit.sim.Seeds;
import dev.holdfast.testkit.sim.SimStore;
import dev.holdfast.testkit.sim.Simulation;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;

/**
 * The simulation is worth what it finds: each of these stores and clients breaks one rule, and is found out by the
 * oracle of that rule within a stated number of seeds, all of which {@link SimulationTest} passes with nothing broken.
 */
class MutantTest {

    private static final int SEEDS = 3_000;

    /** For what needs several rare things to meet. */
    private static final int MANY_SEEDS = 15_000;

    @TestFactory
    @DisplayName("A broken store is found out")
    Stream<DynamicTest> brokenStores() {
        return Stream.of(
                store("a keep-alive revives a session", BrokenStores::keepAliveRevivesSession, "I12"),
                store("a keep-alive revives grants that were passed over", BrokenStores::keepAliveRevivesGrants, "I12"),
                store("a late claim is made after its release", BrokenStores::claimAfterReleaseIsMade, "I10", "I12"),
                store("a late claim is made after its withdrawal", BrokenStores::claimAfterWithdrawalIsMade, "I11"),
                store("a keep-alive does not raise the epoch", BrokenStores::epochIsNotRaised, "I10", "I11"),
                store("an old session is given again", BrokenStores::oldSessionIsGivenAgain, "I12"),
                store("token blocks end where they like", MANY_SEEDS, BrokenStores::blocksWithoutEnd, "I3"),
                store("tokens are forgotten with the lock", BrokenStores::tokensForgottenWithTheLock, "I3"),
                store("a yield is two steps", BrokenStores::yieldIsTwoSteps, "I17"),
                store("anybody may release", BrokenStores::anybodyMayRelease, "I17"),
                store("dead waiters are granted", BrokenStores::deadWaitersAreGranted, "I8", "I12"),
                store("nothing expires", BrokenStores::nothingExpires, "I8", "I12"),
                store("sessions end early", BrokenStores::sessionsEndEarly, "I17", "I2"),
                store("the last come is served first", BrokenStores::lastComeFirstServed, "I16"),
                store("old extensions act", MANY_SEEDS, BrokenStores::oldExtensionsAct, "I2"),
                store("nobody looks again", BrokenStores::nobodyLooksAgain, "I6", "I8"));
    }

    @TestFactory
    @DisplayName("A broken client is found out")
    Stream<DynamicTest> brokenClients() {
        return Stream.of(
                client("the deadline counts from the reply", BrokenClients.deadlineFromTheReply(), "I2", "I7"),
                client("there is no margin", BrokenClients.noMargin(), "I2", "I7"),
                client("the deadline is ignored", BrokenClients.deadlineIgnored(), "I2", "I5", "I13", "I14"),
                client("the sleep of the machine is not counted", BrokenClients.sleepNotCounted(), "I2", "I7"),
                client("doubt is ignored", BrokenClients.doubtIgnored(), "I2", "I7"),
                client("a late renewal counts", MANY_SEEDS, BrokenClients.lateRenewalCounts(), "I14"),
                client("a hold is handed on past its end", BrokenClients.handOffPastTheDeadline(), "I7", "I15"),
                client("a grant is yielded under a live hold", BrokenClients.yieldUnderALiveHold(), "I2"),
                client("the token is read live", BrokenClients.tokenReadLive(), "I5"),
                client("a late grant is kept", BrokenClients.lateGrantKept(), "I11"),
                client("the epoch is not raised", BrokenClients.epochNotRaised(), "I10", "I11"),
                client("unknown is taken for no effect", BrokenClients.unknownTakenForNoEffect(), "I10", "I11"),
                client("the driver retries by itself", BrokenClients.driverRetries(), "I10", "I11"),
                client("endings are not repeated", BrokenClients.endingsNotRepeated(), "I7", "I11"),
                client("withdrawals are forgotten", BrokenClients.withdrawalsForgotten(), "I8", "I11"));
    }

    private static DynamicTest store(String name, Supplier<SimStore> broken, String... rules) {
        return store(name, SEEDS, broken, rules);
    }

    private static DynamicTest store(String name, int seeds, Supplier<SimStore> broken, String... rules) {
        return mutant(name, seeds, new Simulation(EngineUnderTest.keeping(new SafetyRules()), broken), rules);
    }

    private static DynamicTest client(String name, Starter broken, String... rules) {
        return client(name, SEEDS, broken, rules);
    }

    private static DynamicTest client(String name, int seeds, Starter broken, String... rules) {
        return mutant(name, seeds, new Simulation(broken, SimStore::reference), rules);
    }

    private static DynamicTest mutant(String name, int seeds, Simulation simulation, String... rules) {
        return DynamicTest.dynamicTest(name, () -> {
            Optional<Seeds.Finding> found = new Seeds(simulation).find(1, seeds);
            assertThat(found).as("'%s' survived %d seeds", name, seeds).isPresent();
            Seeds.Finding finding = found.orElseThrow();
            System.out.println(
                    name + ": seed " + finding.seed() + ", " + finding.failure().getMessage());
            assertThat(List.of(rules))
                    .as("the rules that may find out '%s', which seed %d did", name, finding.seed())
                    .contains(finding.failure().oracle().split(" ")[0]);
        });
    }
}
