package dev.holdfast.benchmarks;

import dev.holdfast.benchmarks.harness.Bench;
import dev.holdfast.benchmarks.harness.Jvm;
import dev.holdfast.benchmarks.harness.Sheet;
import dev.holdfast.benchmarks.workload.Cell;
import dev.holdfast.benchmarks.workload.Workload;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.logging.LogManager;

/** The JVM of one cell: measures, and prints the sheet. */
final class CellMain {

    private CellMain() {}

    public static void main(String[] args) throws Exception {
        // Drivers write to the JDK's log where no other is set up; what fails shows in the figures.
        LogManager.getLogManager().reset();
        Cell cell = Workloads.byId(args[0]).cell(args[1]);
        Bench bench = new Bench(
                Path.of(args[2]), Long.parseLong(args[3]), Duration.parse(args[4]), Double.parseDouble(args[5]));
        Sheet sheet = new Sheet();
        cell.body().run(bench, sheet);
        sheet.lines().forEach(System.out::println);
        // A thread that is stuck does not keep it.
        System.exit(0);
    }

    /** Starts the JVM of a cell. */
    static Jvm start(Path javaHome, Workload workload, Cell cell, Bench bench) throws IOException {
        return Jvm.start(
                javaHome,
                bench.isTrial() ? Jvm.Purpose.TRIAL : Jvm.Purpose.MEASUREMENT,
                CellMain.class,
                List.of(
                        workload.id(),
                        cell.id(),
                        bench.place().toString(),
                        Long.toString(bench.begin()),
                        bench.time().toString(),
                        Double.toString(bench.scale())));
    }

    /** Starts the JVM of a cell that takes part in this one. */
    static Jvm start(Workload workload, Cell cell, Bench bench) throws IOException {
        return start(Path.of(System.getProperty("java.home")), workload, cell, bench);
    }
}
