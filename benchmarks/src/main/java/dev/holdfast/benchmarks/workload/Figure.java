package dev.holdfast.benchmarks.workload;

import dev.holdfast.benchmarks.harness.Sheet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * A row of the table: a number of a cell, or how many times it is that of another.
 *
 * @param subject what it is about
 * @param label what it tells
 * @param unit how it is shown
 * @param term the number
 * @param base what it is divided by; null for the number itself
 * @param goal what it should reach, if anything
 */
public record Figure(
        String subject,
        String label,
        Unit unit,
        Term term,
        @Nullable Term base,
        Optional<Goal> goal) {

    /** A number on the sheet of a cell, or the highest of several cells. */
    public record Term(List<String> cells, String number) {

        public Term(String cell, String number) {
            this(List.of(cell), number);
        }

        boolean isIn(Round round) {
            return cells.stream().allMatch(cell -> {
                Sheet sheet = round.sheets().get(cell);
                return sheet != null && sheet.has(number);
            });
        }

        double in(Round round) {
            return cells.stream()
                    .mapToDouble(cell ->
                            Objects.requireNonNull(round.sheets().get(cell)).get(number))
                    .max()
                    .orElseThrow();
        }
    }

    /** One run of each cell of a workload: figures compare what ran close together. */
    public record Round(Map<String, Sheet> sheets) {}

    /** What a figure should reach; its median is judged. */
    public record Goal(boolean isFloor, double bound) {

        public boolean isReached(double median) {
            return isFloor ? median >= bound : median <= bound;
        }

        public String show(Unit unit) {
            return (isFloor ? "≥ " : "≤ ") + unit.show(bound);
        }
    }

    /** A number of the cell that it is about. */
    public static Figure of(String cell, String label, Unit unit, String number) {
        return new Figure(cell, label, unit, new Term(cell, number), null, Optional.empty());
    }

    public static Figure ratio(String subject, String label, Term term, Term base) {
        return new Figure(subject, label, Unit.TIMES, term, base, Optional.empty());
    }

    public Figure atLeast(double bound) {
        return new Figure(subject, label, unit, term, base, Optional.of(new Goal(true, bound)));
    }

    public Figure atMost(double bound) {
        return new Figure(subject, label, unit, term, base, Optional.of(new Goal(false, bound)));
    }

    /** Its values in the rounds in which what it needs was measured, in ascending order. */
    public double[] sorted(List<Round> rounds) {
        return rounds.stream()
                .filter(round -> term.isIn(round) && (base == null || base.isIn(round)))
                .mapToDouble(round -> base == null ? term.in(round) : term.in(round) / base.in(round))
                .sorted()
                .toArray();
    }
}
