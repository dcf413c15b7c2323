package dev.holdfast.benchmarks.report;

import dev.holdfast.benchmarks.workload.Cell;
import dev.holdfast.benchmarks.workload.Figure;
import dev.holdfast.benchmarks.workload.Unit;
import dev.holdfast.benchmarks.workload.Workload;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** The results as a table in Markdown, which also reads well on a terminal. */
public final class Table {

    private static final List<String> HEAD =
            List.of("workload", "of", "figure", "median", "lowest … highest", "to reach", "");

    private Table() {}

    public static String of(Results results) {
        List<List<String>> rows = new ArrayList<>();
        rows.add(HEAD);
        results.rounds().forEach((workload, rounds) -> {
            for (Figure figure : workload.figures()) {
                row(workload, figure, rounds, rows);
            }
        });
        return text(rows);
    }

    /** The cells of each workload that has columns, side by side; medians. */
    public static List<String> boards(Results results) {
        List<String> boards = new ArrayList<>();
        results.rounds().forEach((workload, rounds) -> {
            if (!workload.columns().isEmpty()) {
                boards.add(board(workload, rounds));
            }
        });
        return boards;
    }

    private static String board(Workload workload, List<Figure.Round> rounds) {
        List<List<String>> rows = new ArrayList<>();
        List<String> head = new ArrayList<>(List.of(workload.id()));
        workload.columns().forEach(column -> head.add(column.title()));
        rows.add(head);
        for (Cell cell : workload.cells()) {
            List<String> row = new ArrayList<>(List.of(cell.id()));
            for (Workload.Column column : workload.columns()) {
                double[] values = Figure.of(cell.id(), column.title(), column.unit(), column.number())
                        .sorted(rounds);
                row.add(values.length == 0 ? "" : column.unit().show(median(values)));
            }
            if (row.stream().skip(1).anyMatch(text -> !text.isEmpty())) {
                rows.add(row);
            }
        }
        return text(rows);
    }

    private static void row(Workload workload, Figure figure, List<Figure.Round> rounds, List<List<String>> rows) {
        double[] values = figure.sorted(rounds);
        if (values.length == 0) {
            return;
        }
        double median = median(values);
        Unit unit = figure.unit();
        rows.add(List.of(
                workload.id(),
                figure.subject(),
                figure.label(),
                unit.show(median),
                values.length == 1 ? "" : unit.show(values[0]) + " … " + unit.show(values[values.length - 1]),
                figure.goal().map(goal -> goal.show(unit)).orElse(""),
                figure.goal().map(goal -> goal.isReached(median) ? "✓" : "✗").orElse("")));
    }

    static double median(double[] sorted) {
        int middle = sorted.length / 2;
        return sorted.length % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
    }

    private static String text(List<List<String>> rows) {
        int[] widths = new int[rows.get(0).size()];
        for (List<String> row : rows) {
            for (int i = 0; i < widths.length; i++) {
                widths[i] = Math.max(widths[i], row.get(i).length());
            }
        }
        StringBuilder text = new StringBuilder();
        for (int i = 0; i < rows.size(); i++) {
            line(rows.get(i), widths, ' ', text);
            if (i == 0) {
                List<String> rule = Arrays.stream(widths).mapToObj("-"::repeat).toList();
                line(rule, widths, '-', text);
            }
        }
        return text.toString();
    }

    private static void line(List<String> cells, int[] widths, char pad, StringBuilder text) {
        for (int i = 0; i < widths.length; i++) {
            text.append("| ").append(cells.get(i));
            for (int length = cells.get(i).length(); length < widths[i]; length++) {
                text.append(pad);
            }
            text.append(' ');
        }
        text.append("|\n");
    }
}
