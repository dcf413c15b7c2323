package dev.holdfast.benchmarks.workload;

import java.util.Locale;
import java.util.function.DoubleFunction;

/** How the numbers of a figure are shown. Times are in nanoseconds. */
public enum Unit {
    PER_SECOND(value -> value == 0 ? "none finished" : Unit.scaled(value) + "/s"),
    NANOS(Unit::time),
    BYTES(value -> Unit.format("%.0f B", value)),
    TIMES(value -> Double.isInfinite(value) ? "∞ ×" : Unit.format(value < 10 ? "%.2f ×" : "%.1f ×", value)),
    PERCENT(value -> Unit.format("%.1f %%", value * 100)),
    COUNT(value -> value == Math.rint(value) ? Unit.scaled(value) : Unit.format("%.2f", value));

    @SuppressWarnings("ImmutableEnumChecker") // none of the functions has state
    private final DoubleFunction<String> text;

    Unit(DoubleFunction<String> text) {
        this.text = text;
    }

    public String show(double value) {
        return text.apply(value);
    }

    private static String time(double value) {
        return value < 1e3
                ? format("%.0f ns", value)
                : value < 1e6
                        ? format("%.1f µs", value / 1e3)
                        : value < 1e9 ? format("%.1f ms", value / 1e6) : format("%.2f s", value / 1e9);
    }

    private static String scaled(double value) {
        return value < 1e4
                ? format("%.0f", value)
                : value < 1e6 ? format("%.1f k", value / 1e3) : format("%.2f M", value / 1e6);
    }

    private static String format(String format, double value) {
        return String.format(Locale.ROOT, format, value);
    }
}
