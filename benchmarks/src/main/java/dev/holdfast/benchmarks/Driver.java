package dev.holdfast.benchmarks;

import dev.holdfast.benchmarks.harness.Bench;
import dev.holdfast.benchmarks.harness.Jvm;
import dev.holdfast.benchmarks.harness.Measurements;
import dev.holdfast.benchmarks.harness.Processors;
import dev.holdfast.benchmarks.report.Results;
import dev.holdfast.benchmarks.server.Servers;
import dev.holdfast.benchmarks.workload.Cell;
import dev.holdfast.benchmarks.workload.Figure;
import dev.holdfast.benchmarks.workload.Workload;
import java.io.IOException;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/** Runs the cells, each in its own JVM, round by round: A B C, A B C, so that a slow spell affects all of them. */
final class Driver {

    /** How much longer than its windows a cell may take; most of it is for the warm-up. */
    private static final Duration TIMEOUT = Duration.ofMinutes(4);

    /** How often a cell is run at most if other programs disturb it. */
    static final int TRIES = 10;

    /** The most windows of a cell. */
    private static final int MOST_WINDOWS = 20;

    private final Options options;
    private final PrintStream progress;
    private final Servers servers = new Servers();

    Driver(Options options, PrintStream progress) {
        this.options = options;
        this.progress = progress;
    }

    Results run() throws IOException, InterruptedException {
        try (servers) {
            Results results = runAll();
            results.noteServers(servers.versions());
            return results;
        }
    }

    private Results runAll() throws IOException, InterruptedException {
        Results results = new Results();
        for (Workload workload : options.workloads()) {
            for (int round = 1; round <= options.rounds(); round++) {
                Map<String, Measurements> cells = new LinkedHashMap<>();
                for (Cell cell : options.cells(workload)) {
                    progress.printf("round %d of %d: %s/%s%n", round, options.rounds(), workload.id(), cell.id());
                    cells.put(cell.id(), runUndisturbed(workload, cell, results));
                }
                results.add(workload, new Figure.Round(cells));
            }
        }
        return results;
    }

    /** Runs a cell until other programs do not disturb it; the last attempt counts in any case. */
    private Measurements runUndisturbed(Workload workload, Cell cell, Results results)
            throws IOException, InterruptedException {
        for (int tries = 1; ; tries++) {
            Processors before = Processors.now();
            Measurements measurements = run(workload, cell);
            double others = Processors.now().usedByOthersSince(before);
            if (others <= options.disturbance()
                    || tries == TRIES
                    || !measurements.violations().isEmpty()) {
                results.noteOthers(others);
                return measurements;
            }
            progress.printf("  again, since others used %.0f %% of the processors%n", others * 100);
        }
    }

    private Measurements run(Workload workload, Cell cell) throws IOException, InterruptedException {
        Path place = Files.createTempDirectory(options.work(), "holdfast-bench-");
        workload.server().ifPresent(kind -> servers.lend(kind, place));
        Bench bench = Bench.after(Duration.ZERO, place, options.time(), 1);
        try (Jvm jvm = Jvm.ofCell(options.javaHome(), workload.id(), cell.id(), bench)) {
            return jvm.measurements(
                    TIMEOUT.plus(cell.preparation()).plus(options.time().multipliedBy(MOST_WINDOWS)));
        } catch (IllegalStateException failed) {
            Measurements measurements = new Measurements();
            String text = "did not run: " + failed.getMessage();
            if (cell.isOfPeer()) {
                measurements.remark(text);
            } else {
                measurements.violation(text);
            }
            return measurements;
        } finally {
            delete(place);
        }
    }

    private static void delete(Path directory) throws IOException {
        try (Stream<Path> paths = Files.walk(directory)) {
            List<Path> deepestFirst = paths.sorted(Comparator.reverseOrder()).toList();
            for (Path path : deepestFirst) {
                Files.deleteIfExists(path);
            }
        } catch (UncheckedIOException e) {
            throw e.getCause();
        }
    }
}
