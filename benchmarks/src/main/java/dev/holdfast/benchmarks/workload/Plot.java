package dev.holdfast.benchmarks.workload;

import java.util.ArrayList;
import java.util.List;
import java.util.function.IntFunction;

/**
 * A picture: a line for each contestant, through its medians.
 *
 * @param name of its file
 * @param isLogarithmic whether the horizontal axis is; the vertical one always is
 */
public record Plot(
        String name,
        String title,
        String horizontal,
        boolean isLogarithmic,
        String vertical,
        Unit unit,
        List<Line> lines) {

    /** A point for each of some numbers of cells. */
    public record Line(String title, List<Point> points) {

        /** A line with a number of a cell, or of several, at each place. */
        public static Line of(String title, List<Integer> places, IntFunction<Figure.Term> term) {
            return new Line(
                    title,
                    places.stream()
                            .map(place -> new Point(place, term.apply(place)))
                            .toList());
        }
    }

    /** A number of cells, at its place on the horizontal axis. */
    public record Point(double place, Figure.Term term) {}

    public Plot(String name, String title, String horizontal, boolean isLogarithmic, String vertical, Unit unit) {
        this(name, title, horizontal, isLogarithmic, vertical, unit, new ArrayList<>());
    }
}
