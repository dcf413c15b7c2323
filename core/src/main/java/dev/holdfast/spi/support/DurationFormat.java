package dev.holdfast.spi.support;

import java.math.BigDecimal;
import java.math.RoundingMode;
import java.time.Duration;

/** Durations in messages, as people write them: {@code 500 ms}, {@code 3.7 s}, {@code 1 min 30 s}, {@code 2 h}. */
public final class DurationFormat {

    private static final long DAYS_OF_YEAR = 365;
    private static final int NANOS_OF_MILLI = 1_000_000;

    private static final Duration LONGEST = Duration.ofSeconds(Long.MAX_VALUE);

    private DurationFormat() {}

    /** The text; exact, except that a second or more is rounded to tenths if it has fractions of a millisecond. */
    public static String format(Duration duration) {
        if (duration.isNegative()) {
            // The longest negative duration can't be negated.
            return "-" + format(duration.toSeconds() == Long.MIN_VALUE ? LONGEST : duration.negated());
        }
        long days = duration.toDays();
        if (days > 0 && days % DAYS_OF_YEAR == 0 && duration.equals(Duration.ofDays(days))) {
            long years = days / DAYS_OF_YEAR;
            return years + (years == 1 ? " year" : " years");
        } else if (days > 1) {
            return joined(days + " d", duration.minusDays(days));
        } else if (duration.toHours() > 0) {
            return joined(duration.toHours() + " h", duration.minusHours(duration.toHours()));
        } else if (duration.toMinutes() > 0) {
            return joined(duration.toMinutes() + " min", duration.minusMinutes(duration.toMinutes()));
        } else if (duration.toSeconds() > 0) {
            BigDecimal seconds = BigDecimal.valueOf(duration.toNanos(), 9);
            boolean isExact = duration.toNanosPart() % NANOS_OF_MILLI == 0;
            return plain(isExact ? seconds : seconds.setScale(1, RoundingMode.DOWN)) + " s";
        } else if (duration.isZero()) {
            return "0 s";
        }
        return duration.toNanos() < 1_000
                ? duration.toNanos() + " ns"
                : plain(BigDecimal.valueOf(duration.toNanos(), 6)) + " ms";
    }

    private static String joined(String large, Duration rest) {
        return rest.isZero() ? large : large + " " + format(rest);
    }

    private static String plain(BigDecimal number) {
        return number.stripTrailingZeros().toPlainString();
    }
}
