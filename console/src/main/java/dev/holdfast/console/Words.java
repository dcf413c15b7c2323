package dev.holdfast.console;

import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.Locale;

/** Times and numbers in sentences. */
final class Words {

    private static final DateTimeFormatter MOMENT = DateTimeFormatter.ofPattern(
                    "d MMM yyyy, HH:mm:ss 'UTC'", Locale.ENGLISH)
            .withZone(ZoneOffset.UTC);

    private Words() {}

    /** A duration for people, rounded down: {@code 18 min}, {@code 2 min 10 s}, {@code 1 d 2 h}. */
    static String duration(Duration duration) {
        long millis = Math.max(0, duration.toMillis());
        long seconds = millis / 1_000;
        if (seconds < 1) {
            return millis + " ms";
        } else if (seconds < 60) {
            return seconds + " s";
        } else if (seconds < 600) {
            return join(seconds / 60, "min", seconds % 60, "s");
        } else if (seconds < 3_600) {
            return seconds / 60 + " min";
        } else if (seconds < 86_400) {
            return join(seconds / 3_600, "h", seconds % 3_600 / 60, "min");
        }
        return join(seconds / 86_400, "d", seconds % 86_400 / 3_600, "h");
    }

    private static String join(long large, String largeUnit, long small, String smallUnit) {
        return large + " " + largeUnit + (small == 0 ? "" : " " + small + " " + smallUnit);
    }

    static String moment(Instant time) {
        return MOMENT.format(time);
    }

    /** A number and its noun. */
    static String count(long number, String one, String many) {
        return number + " " + (number == 1 ? one : many);
    }

    /** A label, or a word for a client without one. */
    static String label(String label) {
        return label.isEmpty() ? "a process without a label" : label;
    }
}
