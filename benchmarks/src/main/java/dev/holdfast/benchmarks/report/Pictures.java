package dev.holdfast.benchmarks.report;

import com.google.errorprone.annotations.FormatMethod;
import com.google.errorprone.annotations.FormatString;
import dev.holdfast.benchmarks.workload.Figure;
import dev.holdfast.benchmarks.workload.Plot;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.ToDoubleFunction;
import java.util.stream.Collectors;

/*
 * Written by hand, since chart libraries with a suitable licence fall short: XChart labels a logarithmic axis as if it
 * were linear once the labels have a format, and turns text into outlines, which makes files twenty times as large.
 */

/**
 * The plots as SVG, without a background. Text is of a grey that has the same contrast on white and on the usual
 * near-black, 4.4 to 1; each line has at least 3 to 1 on both.
 */
public final class Pictures {

    private static final int WIDTH = 800;
    private static final int HEIGHT = 400;
    private static final int LEFT = 115;
    private static final int RIGHT = 590;
    private static final int TOP = 45;
    private static final int BOTTOM = 335;
    private static final int LINE_HEIGHT = 22;

    private static final List<String> COLOURS =
            List.of("#2f81f7", "#d9730d", "#2a9d4a", "#e5534b", "#9a6ee8", "#1a9a9a", "#d0559a", "#8f7a3c");

    private Pictures() {}

    /** Writes the pictures of the workloads that were run. */
    public static void write(Path directory, Results results) throws IOException {
        for (var workload : results.rounds().entrySet()) {
            for (Plot plot : workload.getKey().plots()) {
                List<Curve> curves = curves(plot, workload.getValue());
                if (!curves.isEmpty()) {
                    Files.writeString(directory.resolve(plot.name() + ".svg"), draw(plot, curves));
                }
            }
        }
    }

    /** The medians of a line. */
    private record Curve(String title, List<Spot> spots) {}

    private record Spot(double place, double value) {}

    /** Without lines of which nothing was measured. */
    private static List<Curve> curves(Plot plot, List<Figure.Round> rounds) {
        List<Curve> curves = new ArrayList<>();
        for (Plot.Line line : plot.lines()) {
            List<Spot> spots = new ArrayList<>();
            for (Plot.Point point : line.points()) {
                double[] values = Figure.of(point.term(), plot.unit()).sorted(rounds);
                // A logarithmic axis has no zero.
                if (values.length > 0 && Table.median(values) > 0) {
                    spots.add(new Spot(point.place(), Table.median(values)));
                }
            }
            if (!spots.isEmpty()) {
                curves.add(new Curve(line.title(), spots));
            }
        }
        return curves;
    }

    private static String draw(Plot plot, List<Curve> curves) {
        List<Double> places = values(curves, Spot::place);
        List<Double> values = values(curves, Spot::value);
        int lowest = (int) Math.floor(Math.log10(values.get(0)));
        int highest = Math.max(lowest + 1, (int) Math.ceil(Math.log10(values.get(values.size() - 1))));
        Axis across =
                new Axis(plot.isLogarithmic(), places.get(0), places.get(places.size() - 1), LEFT + 20, RIGHT - 20);
        Axis up = new Axis(true, Math.pow(10, lowest), Math.pow(10, highest), BOTTOM, TOP);
        StringBuilder svg =
                new StringBuilder(String.format(Locale.ROOT, """
                        <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%d" height="%d"
                         role="img" fill="#797979" font-family="system-ui, sans-serif" font-size="14">
                        <title>%s</title>
                        """, WIDTH, HEIGHT, WIDTH, HEIGHT, escape(plot.title())));
        text(svg, (LEFT + RIGHT) / 2.0, 20, "middle", "font-weight=\"bold\"", plot.title());
        text(svg, (LEFT + RIGHT) / 2.0, BOTTOM + 50, "middle", "", plot.horizontal());
        text(svg, 18, (TOP + BOTTOM) / 2.0, "middle", "transform=\"rotate(-90 18 190)\"", plot.vertical());
        for (int decade = lowest; decade <= highest; decade++) {
            double y = up.at(Math.pow(10, decade));
            add(svg, "<path d=\"M%d %.1fH%d\" stroke=\"#797979\" stroke-opacity=\".35\"/>", LEFT, y, RIGHT);
            text(svg, LEFT - 8, y + 5, "end", "", plot.unit().show(Math.pow(10, decade)));
        }
        for (double place : places) {
            text(svg, across.at(place), BOTTOM + 24, "middle", "", String.format(Locale.ROOT, "%,.0f", place));
        }
        for (int i = 0; i < curves.size(); i++) {
            String colour = COLOURS.get(i % COLOURS.size());
            String style = "stroke=\"" + colour + "\" stroke-width=\"2\""
                    + (i < COLOURS.size() ? "" : " stroke-dasharray=\"6 4\"");
            int y = TOP + 10 + i * LINE_HEIGHT;
            curve(svg, curves.get(i), across, up, colour, style);
            add(svg, "<path d=\"M%d %dh24\" %s/>", RIGHT + 20, y, style);
            text(svg, RIGHT + 52, y + 5, "start", "", curves.get(i).title());
        }
        return svg.append("</svg>\n").toString();
    }

    private static void curve(StringBuilder svg, Curve curve, Axis across, Axis up, String colour, String style) {
        add(
                svg,
                "<path d=\"%s\" fill=\"none\" %s/>",
                curve.spots().stream()
                        .map(spot ->
                                String.format(Locale.ROOT, "%.1f %.1f", across.at(spot.place()), up.at(spot.value())))
                        .collect(Collectors.joining(" L", "M", "")),
                style);
        for (Spot spot : curve.spots()) {
            add(
                    svg,
                    "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"4\" fill=\"%s\"/>",
                    across.at(spot.place()),
                    up.at(spot.value()),
                    colour);
        }
    }

    private record Axis(boolean isLogarithmic, double from, double to, int begin, int end) {

        double at(double value) {
            double part = isLogarithmic ? Math.log(value / from) / Math.log(to / from) : (value - from) / (to - from);
            // A single place is in the middle.
            return to == from ? (begin + end) / 2.0 : begin + part * (end - begin);
        }
    }

    private static List<Double> values(List<Curve> curves, ToDoubleFunction<Spot> value) {
        return curves.stream()
                .flatMap(curve -> curve.spots().stream())
                .map(value::applyAsDouble)
                .distinct()
                .sorted()
                .toList();
    }

    private static void text(StringBuilder svg, double x, double y, String anchor, String style, String text) {
        add(svg, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\" %s>%s</text>", x, y, anchor, style, escape(text));
    }

    @FormatMethod
    private static void add(StringBuilder svg, @FormatString String format, Object... arguments) {
        svg.append(String.format(Locale.ROOT, format, arguments)).append('\n');
    }

    private static String escape(String text) {
        return text.replace("&", "&amp;").replace("<", "&lt;");
    }
}
