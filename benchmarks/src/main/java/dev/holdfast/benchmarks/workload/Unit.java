package dev.holdfast.benchmarks.workload;

import java.util.Locale;

/** How the numbers of a figure are shown. Times are in nanoseconds. */
public enum Unit {
    PER_SECOND {
        @Override
        public String show(double value) {
            return value == 0 ? "none finished" : scaled(value) + "/s";
        }
    },
    NANOS {
        @Override
        public String show(double value) {
            return value < 1e3
                    ? format("%.0f ns", value)
                    : value < 1e6
                            ? format("%.1f µs", value / 1e3)
                            : value < 1e9 ? format("%.1f ms", value / 1e6) : format("%.2f s", value / 1e9);
        }
    },
    BYTES {
        @Override
        public String show(double value) {
            return format("%.0f B", value);
        }
    },
    TIMES {
        @Override
        public String show(double value) {
            return Double.isInfinite(value) ? "∞ ×" : format(value < 10 ? "%.2f ×" : "%.1f ×", value);
        }
    },
    PERCENT {
        @Override
        public String show(double value) {
            return format("%.1f %%", value * 100);
        }
    },
    COUNT {
        @Override
        public String show(double value) {
            return value == Math.rint(value) ? scaled(value) : format("%.2f", value);
        }
    };

    public abstract String show(double value);

    private static String scaled(double value) {
        return value < 1e4
                ? format("%.0f", value)
                : value < 1e6 ? format("%.1f k", value / 1e3) : format("%.2f M", value / 1e6);
    }

    private static String format(String format, double value) {
        return String.format(Locale.ROOT, format, value);
    }
}
