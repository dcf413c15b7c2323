package dev.holdfast.benchmarks.workload;

import dev.holdfast.benchmarks.harness.Measurements;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * A row of the table: a number of a cell, or its ratio to another.
 *
 * @param subject the cell or lock that it describes
 * @param base the divisor; null for the number itself
 * @param goal what it should reach, if anything
 */
public record Figure(
        String subject,
        String label,
        Unit unit,
        Term term,
        @Nullable Term base,
        Optional<Goal> goal) {

    /** A number of a cell, or the highest of several cells. */
    public record Term(List<String> cells, String number) {

        public Term(String cell, String number) {
            this(List.of(cell), number);
        }

        boolean isIn(Round round) {
            return cells.stream().allMatch(cell -> {
                Measurements measurements = round.cells().get(cell);
                return measurements != null && measurements.has(number);
            });
        }

        double in(Round round) {
            return cells.stream()
                    .mapToDouble(cell ->
                            Objects.requireNonNull(round.cells().get(cell)).get(number))
                    .max()
                    .orElseThrow();
        }
    }

    /** One run of each cell of a workload: ratios compare cells that ran at nearly the same time. */
    public record Round(Map<String, Measurements> cells) {}

    /** What the median of a figure should reach. */
    public record Goal(boolean isFloor, double bound) {

        public boolean isReached(double median) {
            return isFloor ? median >= bound : median <= bound;
        }

        public String show(Unit unit) {
            return (isFloor ? "≥ " : "≤ ") + unit.show(bound);
        }
    }

    /** A number of a cell. */
    public static Figure of(String cell, String label, Unit unit, String number) {
        return new Figure(cell, label, unit, new Term(cell, number), null, Optional.empty());
    }

    /** A number of a cell, or the highest of several, without text. */
    public static Figure of(Term term, Unit unit) {
        return new Figure("", "", unit, term, null, Optional.empty());
    }

    public static Figure ratio(String subject, String label, Term term, Term base) {
        return new Figure(subject, label, Unit.TIMES, term, base, Optional.empty());
    }

    public Figure atLeast(double bound) {
        return goal(new Goal(true, bound));
    }

    public Figure atMost(double bound) {
        return goal(new Goal(false, bound));
    }

    private Figure goal(Goal reach) {
        return new Figure(subject, label, unit, term, base, Optional.of(reach));
    }

    /** Two numbers of one cell, divided. */
    public static Figure ratio(String cell, String label, String number, String base) {
        return ratio(cell, label, new Term(cell, number), new Term(cell, base));
    }

    /** Its values, in ascending order, in the rounds that measured what it needs. */
    public double[] sorted(List<Round> rounds) {
        return rounds.stream()
                .filter(round -> term.isIn(round) && (base == null || base.isIn(round)))
                .mapToDouble(round -> base == null ? term.in(round) : term.in(round) / base.in(round))
                .sorted()
                .toArray();
    }
}
