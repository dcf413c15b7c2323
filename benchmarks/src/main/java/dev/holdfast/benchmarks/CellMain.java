package dev.holdfast.benchmarks;

import dev.holdfast.benchmarks.harness.Bench;
import dev.holdfast.benchmarks.harness.Measurements;
import dev.holdfast.benchmarks.workload.Cell;
import java.nio.file.Path;
import java.time.Duration;
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
}
