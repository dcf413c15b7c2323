package dev.holdfast.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.engine.client.SafetyRules;
import dev.holdfast.testkit.sim.ClientUnderTest.Starter;
import dev.holdfast.testkit.sim.SharesRun;
import dev.holdfast.testkit.sim.SimulationFailure;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

/** Processes that request one lock without a break have equal shares of it, and wait a bounded time. */
@Tag("simulation")
class SharesSimulationTest {

    private static final long SEEDS = Long.getLong("holdfast.shares.seeds", 100);
    private static final long FIRST = Long.getLong("holdfast.shares.first", 1);
    private static final Starter STARTER = EngineUnderTest.keeping(new SafetyRules());

    @Test
    @DisplayName("No seed breaks a rule")
    void shares() {
        double ratio = 0;
        double used = 1;
        double wait = 0;
        for (long seed = FIRST; seed < FIRST + SEEDS; seed++) {
            SharesRun.Result result = SharesRun.run(seed, STARTER);
            ratio = Math.max(ratio, result.ratio());
            used = Math.min(used, result.used());
            wait = Math.max(wait, result.longestWait());
            if (seed % 20 == 0) {
                assertThat(SharesRun.run(seed, STARTER).hash())
                        .as("seed %d is one run", seed)
                        .isEqualTo(result.hash());
            }
        }
        System.out.printf(
                "shares: %d seeds, holds of two processes differ by %.2f, at least %.2f of a budget was used,"
                        + " the longest wait was %.2f of what it may be%n",
                SEEDS, ratio, used, wait);
    }

    @TestFactory
    @DisplayName("A broken client is found out")
    Stream<DynamicTest> brokenClients() {
        return Stream.of(
                client("the budget begins with the grant", BrokenOrder.budgetBeginsWithGrant(), "C23"),
                client("each grant begins with one token", BrokenOrder.oneTokenFirst(), "C23", "C24"),
                client("blocks of tokens do not grow", BrokenOrder.blocksDoNotGrow(), "C23"),
                client("a strict lock passes waiters without end", BrokenOrder.windowWithoutEnd(), "C22"),
                client("an answer counts from its arrival", BrokenOrder.windowFromTheAnswer(), "C22"),
                client("a batch has no end", BrokenOrder.batchWithoutEnd(), "C22"),
                client("a process never gives way", BrokenOrder.neverGivesWay(), "C24"));
    }

    private static DynamicTest client(String name, Starter broken, String... rules) {
        return DynamicTest.dynamicTest(name, () -> {
            Optional<SimulationFailure> found = find(broken);
            System.out.println(name + ": " + found.map(Throwable::getMessage).orElse("survived"));
            assertThat(found)
                    .as("'%s' survived %d seeds", name, SEEDS)
                    .hasValueSatisfying(
                            failure -> assertThat(rules).contains(failure.rule().number()));
        });
    }

    private static Optional<SimulationFailure> find(Starter broken) {
        for (long seed = FIRST; seed < FIRST + SEEDS; seed++) {
            try {
                var unused = SharesRun.run(seed, broken);
            } catch (SimulationFailure failure) {
                return Optional.of(failure);
            }
        }
        return Optional.empty();
    }
}
