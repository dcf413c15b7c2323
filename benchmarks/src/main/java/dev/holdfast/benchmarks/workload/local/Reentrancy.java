package dev.holdfast.benchmarks.workload.local;

import dev.holdfast.benchmarks.harness.Bench;
import dev.holdfast.benchmarks.harness.Sheet;
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

/** What an owner does with a lock that it has already: nothing of it concerns the store. */
public final class Reentrancy implements Workload {

    private static final double PER_SECOND = 10_000_000;

    /** What the handle of a nested acquisition takes: a header, a reference and a flag, rounded up. */
    private static final int BYTES_OF_A_HOLD = 24;

    /** Of an operation, as JMH calls it. */
    private static final String ALLOCATED = "gc.alloc.rate.norm";

    private static final int ITERATIONS = 4;

    @Override
    public String id() {
        return "reentrant";
    }

    @Override
    public String title() {
        return "A lock that the thread holds already";
    }

    @Override
    public String method() {
        return "One thread holds the lock throughout, and acquires and releases it once more, as a handle or in the "
                + "manner of `Lock`, or asks whether it holds it. [JMH](https://github.com/openjdk/jmh) measures each"
                + " of these in a JVM of its own, after as long a warm-up. *Allocated* is what is made for each; the"
                + " handle is an object of " + BYTES_OF_A_HOLD + " bytes, and nothing else should be.";
    }

    @Override
    public List<Cell> cells() {
        return List.of(
                cell("acquire-close", "acquireClose"),
                cell("lock-unlock", "lockUnlock"),
                cell("is-held", "isHeld"),
                cell("jdk-lock-unlock", "jdkLockUnlock"));
    }

    private static Cell cell(String id, String operation) {
        return new Cell(id, (bench, sheet) -> measure(operation, bench, sheet));
    }

    private static void measure(String operation, Bench bench, Sheet sheet) throws RunnerException {
        // It would be one file for all users of this machine; cells run one at a time anyway.
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
        sheet.put("ops/s", result.getPrimaryResult().getScore());
        sheet.put(
                "bytes",
                Objects.requireNonNull(result.getSecondaryResults().get(ALLOCATED))
                        .getScore());
    }

    @Override
    public List<Figure> figures() {
        return List.of(
                speed("acquire-close").atLeast(PER_SECOND),
                bytes("acquire-close").atMost(BYTES_OF_A_HOLD + 0.5),
                speed("lock-unlock").atLeast(PER_SECOND),
                bytes("lock-unlock").atMost(0.5),
                speed("is-held").atLeast(PER_SECOND),
                bytes("is-held").atMost(0.5),
                speed("jdk-lock-unlock"));
    }

    private static Figure speed(String cell) {
        return Figure.of(cell, "speed", Unit.PER_SECOND, "ops/s");
    }

    private static Figure bytes(String cell) {
        return Figure.of(cell, "allocated", Unit.BYTES, "bytes");
    }
}
