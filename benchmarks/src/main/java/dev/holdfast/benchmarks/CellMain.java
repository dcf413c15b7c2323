package dev.holdfast.benchmarks;

import dev.holdfast.benchmarks.harness.Bench;
import dev.holdfast.benchmarks.harness.Jvm;
import dev.holdfast.benchmarks.harness.Measurements;
import dev.holdfast.benchmarks.workload.Cell;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.logging.LogManager;

/** The JVM of one cell: measures, and prints the measurements. */
final class CellMain {

    private CellMain() {}

    public static void main(String[] args) throws Exception {
        // Some drivers write to the JDK's log; failures show in the figures.
        LogManager.getLogManager().reset();
        Cell cell = Workloads.byId(args[0]).cell(args[1]);
        Bench bench = new Bench(
                Path.of(args[2]), Long.parseLong(args[3]), Duration.parse(args[4]), Double.parseDouble(args[5]));
        Measurements measurements = new Measurements();
        cell.body().run(bench, measurements);
        measurements.lines().forEach(System.out::println);
        // Even if a thread is stuck.
        System.exit(0);
    }

    /** Starts the JVM of a cell or part. */
    static Jvm start(Path javaHome, List<String> prefix, String workload, String cell, Bench bench) throws IOException {
        return Jvm.start(
                javaHome,
                bench.isTrial() ? Jvm.Purpose.TRIAL : Jvm.Purpose.MEASUREMENT,
                prefix,
                CellMain.class,
                List.of(
                        workload,
                        cell,
                        bench.place().toString(),
                        Long.toString(bench.begin()),
                        bench.time().toString(),
                        Double.toString(bench.scale())));
    }

    /** Starts the JVM of a part, on the JDK of its cell. */
    static Jvm start(List<String> prefix, String workload, String part, Bench bench) throws IOException {
        return start(Path.of(System.getProperty("java.home")), prefix, workload, part, bench);
    }
}
