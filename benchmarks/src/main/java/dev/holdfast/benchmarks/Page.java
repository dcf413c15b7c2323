package dev.holdfast.benchmarks;

import dev.holdfast.benchmarks.harness.Workers;
import dev.holdfast.benchmarks.report.Machine;
import dev.holdfast.benchmarks.report.Results;
import dev.holdfast.benchmarks.report.Table;
import dev.holdfast.benchmarks.server.Servers;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
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
        write(directory.resolve("benchmarks.md"), of("page.md", "", options, results.on(Optional.empty())));
        for (Servers.Kind kind : Servers.Kind.values()) {
            Path page = directory.resolve("benchmarks-" + kind.name().toLowerCase(Locale.ROOT) + ".md");
            write(page, of("server-page.md", kind.title(), options, results.on(Optional.of(kind))));
        }
    }

    private static void write(Path file, Optional<String> page) throws IOException {
        if (page.isPresent()) {
            Files.writeString(file, page.get());
        }
    }

    /** Empty if none of the workloads was run. */
    private static Optional<String> of(String template, String title, Options options, Results results)
            throws IOException {
        if (results.rounds().isEmpty()) {
            return Optional.empty();
        }
        String page = template(template);
        Map<String, String> parts = Map.of(
                "{title}", title,
                "{first}", String.format(Locale.ROOT, "%,d", Workers.FIRST_PAIRS),
                "{warm-up}", String.format(Locale.ROOT, "%,d", Workers.WARM_UP_PAIRS),
                "{longest}", Long.toString(Workers.LONGEST_WARM_UP.toSeconds()),
                "{timed}", String.format(Locale.ROOT, "%,d", Workers.TIMED_RATE),
                "{gap}", Integer.toString(Workers.MEAN_GAP),
                "{where}", where(options, results),
                "{workloads}", workloads(results),
                "{table}", table(results));
        for (Map.Entry<String, String> part : parts.entrySet()) {
            page = page.replace(part.getKey(), part.getValue());
        }
        return Optional.of(page);
    }

    /** The text of a page, with placeholders for the results. */
    private static String template(String name) throws IOException {
        try (InputStream resource = Page.class.getResourceAsStream(name)) {
            return new String(Objects.requireNonNull(resource).readAllBytes(), StandardCharsets.UTF_8);
        }
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
