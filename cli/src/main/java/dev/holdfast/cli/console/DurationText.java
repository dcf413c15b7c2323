package dev.holdfast.cli.console;

import dev.holdfast.spi.Command;
import java.time.Duration;
import java.time.format.DateTimeParseException;
import org.jspecify.annotations.Nullable;

/**
 * Durations and numbers as people write and read them: {@code 10s}, {@code 1m30s}, {@code 500ms}, {@code 1.5s}, {@code
 * PT10S}, and a bare number of seconds as with {@code flock}.
 */
public final class DurationText {

    private static final String[] UNITS = {"d", "h", "m", "s", "ms"};
    private static final long[] UNIT_NANOS = {
        86_400_000_000_000L, 3_600_000_000_000L, 60_000_000_000L, 1_000_000_000L, 1_000_000L
    };
    private static final int SECONDS = 3;

    private DurationText() {}

    /**
     * Reads a duration.
     *
     * @param option the option whose value it is, for the message
     * @throws CliException (usage) if it is not a duration, is negative, or is longer than a hundred years
     */
    public static Duration parse(String option, String text) {
        Duration duration;
        if (text.startsWith("P") || text.startsWith("p")) {
            try {
                duration = Duration.parse(text);
            } catch (DateTimeParseException | ArithmeticException e) {
                throw notADuration(option, text);
            }
        } else {
            duration = scan(text);
        }
        if (duration == null) {
            throw notADuration(option, text);
        }
        if (duration.isNegative()) {
            throw CliException.usage(option + " must not be negative, but is '" + Printable.escape(text) + "'");
        }
        if (duration.compareTo(Command.MAX_DURATION) > 0) {
            throw CliException.usage(option + " may be at most 100 years, but is '" + Printable.escape(text) + "'");
        }
        return duration;
    }

    /** A duration for people, rounded down: {@code 1h5m}, {@code 24s}, {@code 1.5s}, {@code 80ms}. */
    public static String format(Duration duration) {
        long millis = Math.max(0, duration.toMillis());
        if (millis < 1_000) {
            return millis + "ms";
        }
        if (millis < 10_000) {
            long tenths = millis / 100 % 10;
            return millis / 1_000 + (tenths == 0 ? "" : "." + tenths) + "s";
        }
        long seconds = millis / 1_000;
        if (seconds < 60) {
            return seconds + "s";
        }
        long minutes = seconds / 60;
        if (minutes < 60) {
            return join(minutes, "m", seconds % 60, "s");
        }
        long hours = minutes / 60;
        return hours < 48 ? join(hours, "h", minutes % 60, "m") : join(hours / 24, "d", hours % 24, "h");
    }

    private static String join(long large, String largeUnit, long small, String smallUnit) {
        return large + largeUnit + (small == 0 ? "" : small + smallUnit);
    }

    /**
     * Scans numbers with units in descending order, or one bare number; null for anything else. Accepts a sign, so that
     * the message can be about it.
     */
    private static @Nullable Duration scan(String text) {
        int at = 0;
        boolean negative = text.startsWith("-");
        if (negative) {
            at = 1;
        }
        Duration sum = Duration.ZERO;
        int lastUnit = -1;
        while (at < text.length()) {
            int digits = at;
            while (at < text.length() && isDigit(text.charAt(at))) {
                at++;
            }
            int wholeEnd = at;
            int fractionStart = at;
            if (at < text.length() && text.charAt(at) == '.') {
                fractionStart = ++at;
                while (at < text.length() && isDigit(text.charAt(at))) {
                    at++;
                }
            }
            int fractionEnd = at;
            if (wholeEnd - digits + fractionEnd - fractionStart == 0 || wholeEnd - digits > 12) {
                return null;
            }
            int unitStart = at;
            while (at < text.length() && Character.isLetter(text.charAt(at))) {
                at++;
            }
            boolean bare = unitStart == at && lastUnit < 0 && at == text.length();
            int unit = bare ? SECONDS : unitOf(text.substring(unitStart, at));
            if (unit <= lastUnit) {
                return null; // no such unit (-1), or not smaller than the one before
            }
            lastUnit = unit;
            sum = sum.plus(amount(
                    text.substring(digits, wholeEnd), text.substring(fractionStart, fractionEnd), UNIT_NANOS[unit]));
        }
        if (lastUnit < 0) {
            return null;
        }
        return negative ? sum.negated() : sum;
    }

    /** With at most 12 digits, far within the range of {@link Duration} even in days. A fraction has nine digits. */
    private static Duration amount(String whole, String fraction, long unitNanos) {
        Duration amount = Duration.ofNanos(unitNanos).multipliedBy(whole.isEmpty() ? 0 : Long.parseLong(whole));
        long place = unitNanos;
        long nanos = 0;
        for (int i = 0; i < Math.min(fraction.length(), 9); i++) {
            // Exact for every unit, since each has at least six factors of ten; less than a nanosecond is dropped.
            place /= 10;
            nanos += (fraction.charAt(i) - '0') * place;
        }
        return amount.plusNanos(nanos);
    }

    private static int unitOf(String name) {
        for (int i = 0; i < UNITS.length; i++) {
            if (UNITS[i].equals(name)) {
                return i;
            }
        }
        return -1;
    }

    private static boolean isDigit(char c) {
        return c >= '0' && c <= '9';
    }

    private static CliException notADuration(String option, String text) {
        return CliException.usage(
                option + " takes a duration such as 10s, 1m30s, 500ms, 1.5s or 90 (seconds), but got '"
                        + Printable.escape(text) + "'");
    }

    /** The number that ASCII digits mean; -1 if the text is anything else, or has more digits than the maximum. */
    public static int digits(String text, int maxDigits) {
        boolean isNumber =
                !text.isEmpty() && text.length() <= maxDigits && text.chars().allMatch(c -> c >= '0' && c <= '9');
        return isNumber ? Integer.parseInt(text) : -1;
    }
}
