package dev.holdfast.benchmarks.workload.local;

import dev.holdfast.benchmarks.harness.Bench;
import dev.holdfast.benchmarks.harness.Measurements;
import dev.holdfast.benchmarks.workload.Figure;
import dev.holdfast.benchmarks.workload.Unit;
import dev.holdfast.benchmarks.workload.Workload;
import java.util.Objects;
import java.util.regex.Pattern;
import org.openjdk.jmh.profile.GCProfiler;
import org.openjdk.jmh.results.RunResult;
import org.openjdk.jmh.runner.Runner;
import org.openjdk.jmh.runner.RunnerException;
import org.openjdk.jmh.runner.options.OptionsBuilder;
import org.openjdk.jmh.runner.options.TimeValue;
import org.openjdk.jmh.runner.options.VerboseMode;

/** Operations of an owner on a lock that it holds already; none of them reaches the store. */
final class Reentrancy {

    private static final double PER_SECOND = 10_000_000;

    /** What the handle of a nested acquisition takes: a header, a reference and a flag, rounded up. */
    private static final int BYTES_OF_A_HOLD = 24;

    /** JMH's name of the bytes per operation. */
    private static final String ALLOCATED = "gc.alloc.rate.norm";

    private static final int ITERATIONS = 4;

    private Reentrancy() {}

    static Workload workload() {
        Workload workload = LocalWorkloads.of(
                "reentrant",
                "A lock that the thread holds already",
                "One thread holds the lock throughout, and acquires and releases it once more, as a hold or in the"
                        + " manner of `Lock`, or asks whether it holds it. [JMH](https://github.com/openjdk/jmh)"
                        + " measures each of these in a JVM of its own, after as long a warm-up. *Allocated* is what is"
                        + " made for each; the hold is an object of " + BYTES_OF_A_HOLD + " bytes, and nothing else"
                        + " should be.");
        add("acquire-close", "acquireClose", BYTES_OF_A_HOLD, workload);
        add("lock-unlock", "lockUnlock", 0, workload);
        add("is-held", "isHeld", 0, workload);
        String jdk = "jdk-lock-unlock";
        workload.cell(jdk, (bench, measurements) -> measure("jdkLockUnlock", bench, measurements));
        workload.show(Figure.of(jdk, "speed", Unit.PER_SECOND, "ops/s"));
        return workload;
    }

    private static void add(String cell, String operation, int bytes, Workload workload) {
        workload.cell(cell, (bench, measurements) -> measure(operation, bench, measurements));
        workload.show(
                Figure.of(cell, "speed", Unit.PER_SECOND, "ops/s").atLeast(PER_SECOND),
                Figure.of(cell, "allocated", Unit.BYTES, "bytes").atMost(bytes + 0.5));
    }

    private static void measure(String operation, Bench bench, Measurements measurements) throws RunnerException {
        // The lock file is shared by all users of the machine; cells run one at a time anyway.
        System.setProperty("jmh.ignoreLock", "true");
        int iterations = bench.isTrial() ? 1 : ITERATIONS;
        TimeValue time = TimeValue.nanoseconds(bench.time().toNanos() / iterations);
        RunResult result = new Runner(new OptionsBuilder()
                        .include(Pattern.quote(NestedOperations.class.getName() + "." + operation) + "$")
                        .forks(bench.isTrial() ? 0 : 1)
                        .warmupIterations(bench.isTrial() ? 0 : iterations)
                        .warmupTime(time)
                        .measurementIterations(iterations)
                        .measurementTime(time)
                        .addProfiler(GCProfiler.class)
                        .shouldFailOnError(true)
                        .verbosity(VerboseMode.SILENT)
                        .build())
                .runSingle();
        measurements.put("ops/s", result.getPrimaryResult().getScore());
        measurements.put(
                "bytes",
                Objects.requireNonNull(result.getSecondaryResults().get(ALLOCATED))
                        .getScore());
    }
}
