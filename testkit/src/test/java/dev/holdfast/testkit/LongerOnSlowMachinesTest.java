package dev.holdfast.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.engine.JupiterTestEngine;
import org.junit.platform.engine.TestExecutionResult;
import org.junit.platform.engine.discovery.DiscoverySelectors;
import org.junit.platform.launcher.TestExecutionListener;
import org.junit.platform.launcher.TestIdentifier;
import org.junit.platform.launcher.core.LauncherConfig;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;

class LongerOnSlowMachinesTest {

    /** How long short things lasted at each attempt, in milliseconds. */
    private static final List<Long> ATTEMPTS = new ArrayList<>();

    /** How long they are to last: for ever, or for less than the test takes. */
    private static Duration length = Duration.ZERO;

    private static final Duration LONG = Duration.ofHours(1);
    private static final Duration SHORT = Duration.ofMillis(10);

    /** A test of the kit, run by this class alone. */
    static final class Attempts extends ConformanceRules {

        Attempts() {
            subjects = () -> new RealTimeSubject(length);
        }

        @Test
        void failsInTime() {
            ATTEMPTS.add(fixture.shortTtl().toMillis());
            throw new AssertionError("a defect");
        }

        @Test
        void failsTooLate() {
            long length = fixture.shortTtl().toNanos();
            ATTEMPTS.add(length / 1_000_000);
            passes(length);
            throw new AssertionError("a defect, or none");
        }

        @Test
        void failsTooLateOnce() {
            long length = fixture.shortTtl().toNanos();
            ATTEMPTS.add(length / 1_000_000);
            if (ATTEMPTS.size() == 1) {
                passes(length);
                throw new AssertionError("no defect");
            }
        }

        private static void passes(long nanos) {
            long start = System.nanoTime();
            while (System.nanoTime() - start < nanos) {
                LockSupport.parkNanos(nanos);
            }
        }
    }

    @Test
    void whatFailsInTimeFailsForGood() {
        assertThat(run("failsInTime", LONG)).isEqualTo(TestExecutionResult.Status.FAILED);
        assertThat(ATTEMPTS).containsExactly(LONG.toMillis());
    }

    @Test
    void whatFailsTooLateIsRepeatedWithLongerLeases() {
        assertThat(run("failsTooLateOnce", SHORT)).isEqualTo(TestExecutionResult.Status.SUCCESSFUL);
        assertThat(ATTEMPTS).containsExactly(10L, 40L);
    }

    @Test
    void whatFailsTooLateEachTimeFails() {
        assertThat(run("failsTooLate", SHORT)).isEqualTo(TestExecutionResult.Status.FAILED);
        assertThat(ATTEMPTS).containsExactly(10L, 40L, 160L, 640L);
    }

    private static TestExecutionResult.Status run(String method, Duration length) {
        ATTEMPTS.clear();
        LongerOnSlowMachinesTest.length = length;
        List<TestExecutionResult.Status> results = new ArrayList<>();
        LauncherFactory.create(LauncherConfig.builder()
                        .enableTestEngineAutoRegistration(false)
                        .addTestEngines(new JupiterTestEngine())
                        .build())
                .execute(
                        LauncherDiscoveryRequestBuilder.request()
                                .selectors(DiscoverySelectors.selectMethod(Attempts.class, method))
                                .build(),
                        new TestExecutionListener() {
                            @Override
                            public void executionFinished(TestIdentifier test, TestExecutionResult result) {
                                if (test.isTest()) {
                                    results.add(result.getStatus());
                                }
                            }
                        });
        assertThat(results).hasSize(1);
        return results.get(0);
    }
}
