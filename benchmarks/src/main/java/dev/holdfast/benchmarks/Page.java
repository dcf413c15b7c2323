package dev.holdfast.benchmarks;

import dev.holdfast.benchmarks.harness.Workers;
import dev.holdfast.benchmarks.report.Machine;
import dev.holdfast.benchmarks.report.Pictures;
import dev.holdfast.benchmarks.report.Results;
import dev.holdfast.benchmarks.report.Table;
import dev.holdfast.benchmarks.server.Servers;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.stream.Collectors;

/**
 * Writes a run's complete results: what was measured, on what machine, how, and the figures. One page for each kind of
 * server, and one for what needs none. {@code docs/benchmarks.md} has a selection, typed by hand.
 */
final class Page {

    private Page() {}

    /** Writes the pages of the workloads that were run. */
    static void write(Path directory, Options options, Results results) throws IOException {
        Files.createDirectories(directory);
        Pictures.write(directory, results);
        write(
                directory.resolve("benchmarks.md"),
                of("in one process and on SQLite", options, results.on(Optional.empty())));
        for (Servers.Kind kind : Servers.Kind.values()) {
            Path page = directory.resolve("benchmarks-" + kind.name().toLowerCase(Locale.ROOT) + ".md");
            write(page, of("on " + kind.title(), options, results.on(Optional.of(kind))));
        }
    }

    private static void write(Path file, Optional<String> page) throws IOException {
        if (page.isPresent()) {
            Files.writeString(file, page.get());
        }
    }

    /** Empty if none of the workloads was run. */
    private static Optional<String> of(String title, Options options, Results results) throws IOException {
        if (results.rounds().isEmpty()) {
            return Optional.empty();
        }
        return Optional.of(String.format(
                Locale.ROOT,
                """
                        # Benchmarks %s

                        Written by `./benchmarks/run --write` from one run. A window opens after %,d pairs of all \
                        threads together, but not before 2 s and not after %d s; on servers the first %,d pairs are \
                        reported separately. Where several processes are measured together, each makes as many pairs \
                        first, and the window opens at a time that all share. Each acquisition is timed where there \
                        are fewer than %,d pairs a second, otherwise one in %d on average, at random intervals.

                        ## Where

                        %s

                        ## Workloads

                        %s

                        ## Results

                        %s
                        """,
                title,
                Workers.WARM_UP_PAIRS,
                Workers.LONGEST_WARM_UP.toSeconds(),
                Workers.FIRST_PAIRS,
                Workers.TIMED_RATE,
                Workers.MEAN_GAP,
                where(options, results),
                workloads(results),
                table(results)));
    }

    private static String where(Options options, Results results) throws IOException {
        List<String> rows = new ArrayList<>(List.of(
                "| | |",
                "| --- | --- |",
                row("Holdfast", System.getProperty("holdfast.commit", "of an unknown commit")),
                row("processors", Machine.processors()),
                row("system", Machine.system()),
                row("JDK", Machine.jdk(options.javaHome())),
                row("file system", Machine.fileSystem(options.work())),
                row("SQLite", Machine.sqlite()),
                row("rounds", options.rounds() + " of " + options.time().toMillis() / 1000.0 + " s for each cell"),
                row("used by other programs during a cell", results.others())));
        results.servers().forEach((name, version) -> rows.add(row(name, version)));
        if (!results.servers().isEmpty()) {
            Machine.libraries().forEach((name, version) -> rows.add(row(name, version)));
        }
        return String.join("\n", rows);
    }

    private static String row(String name, String value) {
        return "| " + name + " | " + value + " |";
    }

    private static String workloads(Results results) {
        return results.rounds().keySet().stream()
                .map(workload -> "**" + workload.id() + ": " + workload.title() + ".** " + workload.method())
                .collect(Collectors.joining("\n\n"));
    }

    private static String table(Results results) {
        List<String> parts = new ArrayList<>();
        parts.addAll(Table.boards(results));
        parts.add(Table.of(results));
        results.remarks().forEach(remark -> parts.add("- " + remark));
        results.violations().forEach(violation -> parts.add("- **Violation:** " + violation));
        if (results.violations().isEmpty()) {
            parts.add("No violations.");
        }
        return String.join("\n", parts);
    }
}
