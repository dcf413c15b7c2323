package dev.holdfast.benchmarks;

import dev.holdfast.benchmarks.harness.Bench;
import dev.holdfast.benchmarks.harness.Jvm;
import dev.holdfast.benchmarks.harness.Processors;
import dev.holdfast.benchmarks.harness.Sheet;
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

/** Runs the cells, each in a JVM of its own, round by round: A B C, A B C, so that a slow spell hits all alike. */
final class Driver {

    /** How much longer than its windows and its warm-up a cell may take. */
    private static final Duration PATIENCE = Duration.ofMinutes(2);

    /** How often a cell is run at most that others disturb. */
    static final int TRIES = 10;

    /** So many windows follow one another in the longest cell, and not more. */
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
                Map<String, Sheet> sheets = new LinkedHashMap<>();
                for (Cell cell : options.cells(workload)) {
                    progress.printf("round %d of %d: %s/%s%n", round, options.rounds(), workload.id(), cell.id());
                    sheets.put(cell.id(), runUndisturbed(workload, cell, results));
                }
                results.add(workload, new Figure.Round(sheets));
            }
        }
        return results;
    }

    /** Runs a cell until others leave it alone; the last try counts in any case. */
    private Sheet runUndisturbed(Workload workload, Cell cell, Results results)
            throws IOException, InterruptedException {
        for (int tries = 1; ; tries++) {
            Processors before = Processors.now();
            Sheet sheet = run(workload, cell);
            double others = Processors.now().usedByOthersSince(before);
            if (others <= options.disturbance()
                    || tries == TRIES
                    || !sheet.violations().isEmpty()) {
                results.noteOthers(others);
                return sheet;
            }
            progress.printf("  again, since others used %.0f %% of the processors%n", others * 100);
        }
    }

    private Sheet run(Workload workload, Cell cell) throws IOException, InterruptedException {
        Path place = Files.createTempDirectory(options.work(), "holdfast-bench-");
        workload.server().ifPresent(kind -> servers.lend(kind, place));
        Bench bench = Bench.after(Workload.WARM_UP, place, options.time(), 1);
        try (Jvm jvm = CellMain.start(options.javaHome(), workload, cell, bench)) {
            return jvm.sheet(
                    PATIENCE.plus(cell.preparation()).plus(options.time().multipliedBy(MOST_WINDOWS)));
        } catch (IllegalStateException failed) {
            Sheet sheet = new Sheet();
            String text = "did not run: " + failed.getMessage();
            if (cell.isOfPeer()) {
                sheet.remark(text);
            } else {
                sheet.violation(text);
            }
            return sheet;
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
