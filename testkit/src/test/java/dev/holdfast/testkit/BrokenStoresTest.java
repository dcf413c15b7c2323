package dev.holdfast.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.DynamicTest.dynamicTest;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.BiConsumer;
import java.util.function.Predicate;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.engine.JupiterTestEngine;
import org.junit.platform.engine.FilterResult;
import org.junit.platform.engine.TestDescriptor;
import org.junit.platform.engine.TestExecutionResult;
import org.junit.platform.engine.discovery.DiscoverySelectors;
import org.junit.platform.launcher.Launcher;
import org.junit.platform.launcher.LauncherDiscoveryRequest;
import org.junit.platform.launcher.PostDiscoveryFilter;
import org.junit.platform.launcher.TestExecutionListener;
import org.junit.platform.launcher.TestIdentifier;
import org.junit.platform.launcher.core.LauncherConfig;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;

/**
 * The kit is proved: each way to break a store fails the tests of the guarantees that it breaks, readably, and no
 * others.
 */
@Tag("simulation")
class BrokenStoresTest {

    private static final Map<Mutant, Class<?>> COMPILED = new ConcurrentHashMap<>();

    /**
     * What each of them fails is found out on all processors at once; to run the kit a hundred times takes its time.
     */
    private static final ExecutorService THREADS =
            Executors.newFixedThreadPool(Runtime.getRuntime().availableProcessors());

    @AfterAll
    static void endThreads() {
        THREADS.shutdownNow();
    }

    private Stream<DynamicTest> each(
            Stream<Mutant> mutants, Predicate<String> displayName, BiConsumer<Mutant, Map<String, Throwable>> judge) {
        Map<Mutant, Future<Map<String, Throwable>>> running = new LinkedHashMap<>();
        mutants.forEach(mutant -> running.put(mutant, THREADS.submit(() -> run(mutant, displayName))));
        return running.entrySet().stream()
                .map(one -> dynamicTest(
                        one.getKey().name(),
                        () -> judge.accept(one.getKey(), one.getValue().get())));
    }

    @TestFactory
    Stream<DynamicTest> everyBrokenStoreFailsWhatItBreaks() {
        return each(Mutants.all().stream(), name -> !isByChance(name), (mutant, failures) -> {
            assertThat(failures.keySet().stream()
                            .map(BrokenStoresTest::guarantee)
                            .distinct())
                    .as(() -> "What '" + mutant.name() + "' fails: " + failures)
                    .containsExactlyInAnyOrderElementsOf(mutant.broken());
            assertThat(failures.values())
                    .allSatisfy(failure -> assertThat(failure).isInstanceOf(AssertionError.class))
                    .allSatisfy(failure -> assertThat(failure.getMessage()).hasSizeGreaterThan(30));
        });
    }

    /** Enough that a run which finds it is not left to luck; nearly all are found in the first few hundred. */
    private static final String MANY_RUNS = "5000";

    @BeforeAll
    static void drawManyRuns() {
        System.setProperty(ModelRules.RUNS, MANY_RUNS);
    }

    @AfterAll
    static void drawAsManyAsUsual() {
        System.clearProperty(ModelRules.RUNS);
    }

    @TestFactory
    Stream<DynamicTest> randomRunsFindBrokenStores() {
        return each(
                Mutants.all().stream().filter(Mutant::seenInRuns),
                name -> guarantee(name).equals("M1"),
                (mutant, failures) -> {
                    assertThat(failures).hasSize(1);
                    assertThat(failures.values())
                            .allSatisfy(failure -> assertThat(failure)
                                    .isInstanceOf(AssertionError.class)
                                    .hasMessageContaining("went apart")
                                    .hasMessageContaining("-D" + ModelRules.SEED + "="));
                });
    }

    @Test
    void overlapsAreSeenUnderLoad() {
        Mutant open = Mutant.of("everybody is let in", "X1")
                .inResource("heldWeight + weight <= capacity", "heldWeight + weight <= Long.MAX_VALUE");
        Map<String, Throwable> failures = run(open, name -> name.startsWith("X"));
        assertThat(failures.keySet().stream().map(BrokenStoresTest::guarantee)).contains("X1", "X2", "X3");
    }

    @Test
    void limitsOfSessionsAreTested() {
        assertThat(run(() -> new LimitedSubject(false, false), name -> name.startsWith("S")).keySet().stream()
                        .map(BrokenStoresTest::guarantee))
                .containsExactly("S11");
        assertThat(run(() -> new LimitedSubject(true, true), name -> name.startsWith("S")).keySet().stream()
                        .map(BrokenStoresTest::guarantee))
                .containsExactly("S10");
    }

    private static boolean isByChance(String displayName) {
        return displayName.startsWith("X") || displayName.startsWith("M");
    }

    private static String guarantee(String displayName) {
        return displayName.substring(0, displayName.indexOf(':'));
    }

    /** The display names of the tests that fail, with what they throw. */
    private Map<String, Throwable> run(Mutant mutant, Predicate<String> displayName) {
        Class<?> store =
                COMPILED.computeIfAbsent(mutant, broken -> BrokenCompiler.compile(BrokenSubject.FORGETFUL, broken));
        return run(() -> new BrokenSubject(store, mutant.parts()), displayName);
    }

    private static Map<String, Throwable> run(Supplier<StoreUnderTest> subject, Predicate<String> displayName) {
        BrokenStoreConformance.OPENER.set(subject);
        PostDiscoveryFilter filter =
                test -> FilterResult.includedIf(!isTest(test) || displayName.test(test.getDisplayName()));
        LauncherDiscoveryRequest request = LauncherDiscoveryRequestBuilder.request()
                .selectors(DiscoverySelectors.selectClass(BrokenStoreConformance.class))
                .filters(filter)
                .build();
        // Only our engine: others on the class path have nothing to run here.
        Launcher launcher = LauncherFactory.create(LauncherConfig.builder()
                .enableTestEngineAutoRegistration(false)
                .addTestEngines(new JupiterTestEngine())
                .build());
        Failures failures = new Failures();
        launcher.execute(request, failures);
        assertThat(failures.run).as("tests that were run").isPositive();
        return failures.seen;
    }

    private static boolean isTest(TestDescriptor test) {
        return test.isTest();
    }

    private static final class Failures implements TestExecutionListener {
        private final Map<String, Throwable> seen = new TreeMap<>();
        private int run;

        @Override
        public void executionFinished(TestIdentifier test, TestExecutionResult result) {
            if (test.isTest()) {
                run++;
            }
            if (result.getStatus() == TestExecutionResult.Status.FAILED) {
                seen.put(test.getDisplayName(), result.getThrowable().orElseThrow());
            }
        }
    }
}
