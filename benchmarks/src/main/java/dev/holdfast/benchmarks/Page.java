package dev.holdfast.benchmarks;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Collectors;

/** The page that is checked in: what was measured, on what, how, and what came of it. */
final class Page {

    private Page() {}

    static String of(Options options, Results results) throws IOException {
        String page = template();
        Map<String, String> parts = Map.of(
                "{warm-up}", Double.toString(Workload.WARM_UP.toMillis() / 1000.0),
                "{timed}", String.format(Locale.ROOT, "%,d", Crew.TIMED_RATE),
                "{gap}", Integer.toString(Crew.MEAN_GAP),
                "{where}", where(options, results),
                "{workloads}", workloads(results),
                "{table}", table(results));
        for (Map.Entry<String, String> part : parts.entrySet()) {
            page = page.replace(part.getKey(), part.getValue());
        }
        return page;
    }

    private static String template() throws IOException {
        try (InputStream resource = Page.class.getResourceAsStream("page.md")) {
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
