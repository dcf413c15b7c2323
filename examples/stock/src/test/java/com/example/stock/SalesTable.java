package com.example.stock;

import java.util.List;
import java.util.Locale;
import java.util.regex.MatchResult;

/** What the processes have sold together, by approach. */
final class SalesTable {

    private final StringBuilder text = new StringBuilder();

    SalesTable() {
        row("approach", "sold by each", "sales/s", "conflicts");
    }

    /** What a line looks like by which a process says what it has sold. */
    static String lineOf(Approach approach) {
        return "(" + approach.product() + "): sold (\\d+) in (\\d+) ms, (\\d+) conflicts";
    }

    /** Adds a row, and answers how many pieces all have sold. */
    int add(List<MatchResult> lines) {
        int sold = lines.stream().mapToInt(line -> number(line, 2)).sum();
        int millis = lines.stream().mapToInt(line -> number(line, 3)).max().orElseThrow();
        int conflicts = lines.stream().mapToInt(line -> number(line, 4)).sum();
        row(
                lines.get(0).group(1),
                String.join(" + ", lines.stream().map(line -> line.group(2)).toList()),
                String.valueOf(sold * 1_000L / Math.max(1, millis)),
                String.valueOf(conflicts));
        return sold;
    }

    private static int number(MatchResult line, int group) {
        return Integer.parseInt(line.group(group));
    }

    private void row(String approach, String sold, String perSecond, String conflicts) {
        text.append(String.format(Locale.ROOT, "%-18s %14s %9s %11s%n", approach, sold, perSecond, conflicts));
    }

    @Override
    public String toString() {
        return text.toString();
    }
}
