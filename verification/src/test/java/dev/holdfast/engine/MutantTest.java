package dev.holdfast.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.engine.client.SafetyRules;
import dev.holdfast.store.memory.BrokenPrimitives;
import dev.holdfast.store.memory.BrokenStores;
import dev.holdfast.testkit.sim.ClientUnderTest.Starter;
import dev.holdfast.testkit.sim.Seeds;
import dev.holdfast.testkit.sim.SimStore;
import dev.holdfast.testkit.sim.Simulation;
import java.util.List;
import java.util.Optional;
import java.util.function.LongFunction;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.TestFactory;

/**
 * The simulation is worth what it finds: each of these stores and clients breaks one rule, and is found out by the
 * oracle of that rule within a stated number of seeds, all of which {@link SimulationTest} passes with nothing broken.
 */
@Tag("simulation")
class MutantTest {

    private static final int SEEDS = 3_000;

    /** For what needs several rare things to meet. */
    private static final int MANY_SEEDS = 15_000;

    private static final LongFunction<String> AGAIN = seed -> "this mutant, seed " + seed;

    @TestFactory
    @DisplayName("A broken store is found out")
    Stream<DynamicTest> brokenStores() {
        return Stream.of(
                store("a keep-alive revives a session", BrokenStores::keepAliveRevivesSession, "S4"),
                store("a keep-alive revives grants that were passed over", BrokenStores::keepAliveRevivesGrants, "S4"),
                store("a late claim is made after its release", BrokenStores::claimAfterReleaseIsMade, "I2", "S4"),
                store("a late claim is made after its withdrawal", BrokenStores::claimAfterWithdrawalIsMade, "C5"),
                store("a keep-alive does not raise the epoch", BrokenStores::epochIsNotRaised, "I2", "C5", "S4"),
                store("an old session is given again", BrokenStores::oldSessionIsGivenAgain, "S4"),
                store("token blocks end where they like", MANY_SEEDS, BrokenStores::blocksWithoutEnd, "T1"),
                store("tokens are forgotten with the lock", BrokenStores::tokensForgottenWithTheLock, "T1"),
                store("a yield is two steps", BrokenStores::yieldIsTwoSteps, "R1"),
                store("anybody may release", BrokenStores::anybodyMayRelease, "R1"),
                store("dead waiters are granted", BrokenStores::deadWaitersAreGranted, "S2", "S4"),
                store("nothing expires", BrokenStores::nothingExpires, "S2", "S4"),
                store("sessions end early", BrokenStores::sessionsEndEarly, "R1", "C1"),
                store("the last come is served first", BrokenStores::lastComeFirstServed, "A4"),
                store("old extensions act", MANY_SEEDS, BrokenStores::oldExtensionsAct, "C1", "C13"),
                store("nobody looks again", BrokenStores::nobodyLooksAgain, "W3", "C15"),
                store("a reader stands beside a writer", BrokenPrimitives::readerBesideWriter, "A2"),
                store("weights are ignored", BrokenPrimitives::weightIgnored, "A3"),
                store("readers go past writers", BrokenPrimitives::readersFirst, "A4"),
                store("fewer permits revoke", BrokenPrimitives::fewerPermitsRevoke, "R1"),
                // It keeps the dead among them too.
                store("who can never fit goes on waiting", BrokenPrimitives::tooHeavyWaitersStay, "A11", "S2"),
                store("a shrink is relative", BrokenPrimitives::shrinkIsRelative, "R4"),
                store("a detached grant ends with its session", BrokenPrimitives::detachedEndsWithSession, "R1", "P5"),
                store("who waits for a latch passes before zero", BrokenPrimitives::passBeforeZero, "K5"),
                store("one passes when a latch opens", BrokenPrimitives::onePasses, "K5"),
                store("a count-down counts twice", BrokenPrimitives::countedTwice, "K3"),
                store("a count-down's generation is ignored", BrokenPrimitives::generationIgnored, "K4"),
                store("a setting that is late acts", MANY_SEEDS, BrokenPrimitives::oldSettingActs, "K1"),
                store("two lead", BrokenPrimitives::twoLeaders, "A1"));
    }

    @TestFactory
    @DisplayName("A broken client is found out")
    Stream<DynamicTest> brokenClients() {
        return Stream.of(
                client("the deadline counts from the reply", BrokenClients.deadlineFromTheReply(), "C1", "C13"),
                client("there is no margin", BrokenClients.noMargin(), "C1", "C13"),
                client("the deadline is ignored", BrokenClients.deadlineIgnored(), "C1", "C4", "C2", "C3"),
                client("the sleep of the machine is not counted", BrokenClients.sleepNotCounted(), "C1", "C13"),
                client("doubt is ignored", BrokenClients.doubtIgnored(), "C1", "C13"),
                client("a late renewal counts", MANY_SEEDS, BrokenClients.lateRenewalCounts(), "C3"),
                client(
                        "a hold is handed on past its end",
                        MANY_SEEDS,
                        BrokenClients.handOffPastTheDeadline(),
                        "C13",
                        "C8"),
                client("a hold is handed on in doubt", MANY_SEEDS, BrokenClients.handOffInDoubt(), "C8", "C13"),
                client(
                        "a grant is parted with under a live hold",
                        BrokenClients.grantPartedWithUnderALiveHold(),
                        "C1",
                        "C2",
                        "C4",
                        "C8"),
                client("a grant is yielded under a live hold", BrokenClients.yieldUnderALiveHold(), "C1"),
                client("the token is read live", BrokenClients.tokenReadLive(), "C4"),
                client("a late grant is kept", BrokenClients.lateGrantKept(), "C5"),
                client("the epoch is not raised", BrokenClients.epochNotRaised(), "I2", "C5", "S4"),
                client("unknown is taken for no effect", BrokenClients.unknownTakenForNoEffect(), "I2", "C5"),
                client("unknown is taken for refused", BrokenClients.unknownTakenForRefused(), "C7"),
                client("nothing is renewed", BrokenClients.nothingRenewed(), "C14"),
                client("a closed client goes on sending", BrokenClients.keepsAliveAfterTheClose(), "C9"),
                client("the driver retries by itself", BrokenClients.driverRetries(), "I2", "C5", "C9"),
                client("endings are not repeated", BrokenClients.endingsNotRepeated(), "C13", "C5"),
                client("withdrawals are forgotten", BrokenClients.withdrawalsForgotten(), "C15", "C5"),
                client("what several had is not given back", BrokenClients.undoForgotten(), "C5", "C15"),
                client("an extension is told too long", BrokenClients.extensionsToldTooLong(), "C1", "C13"),
                client("a process never gives way", BrokenOrder.neverGivesWay(), "C17", "C22"),
                client("a strict lock passes waiters without end", MANY_SEEDS, BrokenOrder.windowWithoutEnd(), "C22"),
                client("a batch has no end", BrokenOrder.batchWithoutEnd(), "C22"),
                client("nesting is not counted", BrokenClients.nestingNotCounted(), "C16"),
                client("who lost a term says that it leads", BrokenElections.leadsForEver(), "E3"),
                client("the loss of a term is not told", BrokenElections.lossNotTold(), "E2"),
                client("who left is elected", BrokenElections.neverLeaves(), "E2", "E6"),
                client("count-downs have no id", BrokenClients.countDownsNotNamed(), "N3"),
                client("every setter believes that it has set", BrokenClients.everySetterBelievesIt(), "N1"));
    }

    private static DynamicTest store(String name, Supplier<SimStore> broken, String... rules) {
        return store(name, SEEDS, broken, rules);
    }

    private static DynamicTest store(String name, int seeds, Supplier<SimStore> broken, String... rules) {
        return mutant(name, seeds, new Simulation(EngineUnderTest.keeping(new SafetyRules()), broken, AGAIN), rules);
    }

    private static DynamicTest client(String name, Starter broken, String... rules) {
        return client(name, SEEDS, broken, rules);
    }

    private static DynamicTest client(String name, int seeds, Starter broken, String... rules) {
        return mutant(name, seeds, new Simulation(broken, SimStore::reference, AGAIN), rules);
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
                    .contains(finding.failure().rule().number());
        });
    }
}
