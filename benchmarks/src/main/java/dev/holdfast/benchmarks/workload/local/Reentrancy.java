package dev.holdfast.benchmarks.workload.local;

import dev.holdfast.benchmarks.harness.Bench;
import dev.holdfast.benchmarks.harness.Measurements;
import dev.holdfast.benchmarks.workload.Cell;
import dev.holdfast.benchmarks.workload.Figure;
import dev.holdfast.benchmarks.workload.Unit;
import dev.holdfast.benchmarks.workload.Workload;
import java.util.List;
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
public final class Reentrancy {

    private static final double PER_SECOND = 10_000_000;

    /** What the handle of a nested acquisition takes: a header, a reference and a flag, rounded up. */
    private static final int BYTES_OF_A_HOLD = 24;

    /** JMH's name of the bytes per operation. */
    private static final String ALLOCATED = "gc.alloc.rate.norm";

    private static final int ITERATIONS = 4;

    private Reentrancy() {}

    public static Workload workload() {
        return Workload.local(
                "reentrant",
                "A lock that the thread holds already",
                "One thread holds the lock throughout, and acquires and releases it once more, as a handle or in the"
                        + " manner of `Lock`, or asks whether it holds it. [JMH](https://github.com/openjdk/jmh)"
                        + " measures each of these in a JVM of its own, after as long a warm-up. *Allocated* is what is"
                        + " made for each; the handle is an object of " + BYTES_OF_A_HOLD + " bytes, and nothing else"
                        + " should be.",
                List.of(
                        cell("acquire-close", "acquireClose"),
                        cell("lock-unlock", "lockUnlock"),
                        cell("is-held", "isHeld"),
                        cell("jdk-lock-unlock", "jdkLockUnlock")),
                List.of(
                        speed("acquire-close").atLeast(PER_SECOND),
                        bytes("acquire-close").atMost(BYTES_OF_A_HOLD + 0.5),
                        speed("lock-unlock").atLeast(PER_SECOND),
                        bytes("lock-unlock").atMost(0.5),
                        speed("is-held").atLeast(PER_SECOND),
                        bytes("is-held").atMost(0.5),
                        speed("jdk-lock-unlock")));
    }

    private static Cell cell(String id, String operation) {
        return new Cell(id, (bench, measurements) -> measure(operation, bench, measurements));
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

    private static Figure speed(String cell) {
        return Figure.of(cell, "speed", Unit.PER_SECOND, "ops/s");
    }

    private static Figure bytes(String cell) {
        return Figure.of(cell, "allocated", Unit.BYTES, "bytes");
    }
}
