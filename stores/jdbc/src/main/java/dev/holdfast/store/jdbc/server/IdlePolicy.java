package dev.holdfast.store.jdbc.server;

import dev.holdfast.spi.ResourceName;
import dev.holdfast.spi.support.DurationFormat;
import dev.holdfast.spi.support.Micros;
import dev.holdfast.spi.support.Tokens;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;

/**
 * How long unused names are kept: the first rule with a matching pattern applies.
 *
 * <p>Immutable.
 */
public final class IdlePolicy {

    /** The default. */
    public static final IdlePolicy USUAL = new IdlePolicy(List.of(), TimeUnit.DAYS.toMicros(1));

    /** Long enough for every request still under way to a name that is dropped. */
    private static final Duration SHORTEST = Duration.ofMinutes(1);

    /** From here on names are kept forever; a clock in microseconds can represent this. */
    private static final Duration LONGEST = Duration.ofDays(365L * 100);

    private static final long FOREVER = Long.MAX_VALUE;

    private record Rule(Pattern pattern, long micros) {}

    private final List<Rule> rules;
    private final long otherwise;

    private IdlePolicy(List<Rule> rules, long otherwise) {
        this.rules = rules;
        this.otherwise = otherwise;
    }

    /** The same time for all names; tests may use a negative one. */
    public static IdlePolicy ofMicros(long micros) {
        return new IdlePolicy(List.of(), micros);
    }

    /**
     * This policy with another rule after the existing ones.
     *
     * @param pattern with {@code *} for any number of characters; all others are literal
     * @throws IllegalArgumentException if the pattern is empty or the time shorter than a minute
     */
    public IdlePolicy with(String pattern, Duration time) {
        if (pattern.isEmpty()) {
            throw new IllegalArgumentException("A name pattern must not be empty; '*' matches all names");
        }
        if (time.compareTo(SHORTEST) < 0) {
            throw new IllegalArgumentException("Unused names must be kept for at least "
                    + DurationFormat.format(SHORTEST) + ", so that delayed commands still find them, but for '"
                    + ResourceName.printable(pattern) + "' it was " + DurationFormat.format(time));
        }
        List<Rule> longer = new ArrayList<>(rules);
        StringBuilder regex = new StringBuilder();
        for (String part : pattern.split("\\*", -1)) {
            regex.append(regex.isEmpty() ? "" : ".*").append(Pattern.quote(part));
        }
        longer.add(new Rule(
                Pattern.compile(regex.toString(), Pattern.DOTALL),
                time.compareTo(LONGEST) >= 0 ? FOREVER : Micros.of(time)));
        return new IdlePolicy(List.copyOf(longer), otherwise);
    }

    private long of(ResourceName name) {
        for (Rule rule : rules) {
            if (rule.pattern.matcher(name.value()).matches()) {
                return rule.micros;
            }
        }
        return otherwise;
    }

    /** The latest time of last use that makes any name droppable. */
    public long newest(long now) {
        long shortest = otherwise;
        for (Rule rule : rules) {
            shortest = Math.min(shortest, rule.micros);
        }
        return before(now, shortest);
    }

    /** The latest time of last use that makes this name droppable; 0 for never. */
    public long rested(ResourceName name, long now) {
        return before(now, of(name));
    }

    /** Whether a name with this newest token has been unused for long enough. */
    public boolean isOver(ResourceName name, long lastToken, long now) {
        return lastToken < Tokens.floor(rested(name, now));
    }

    private static long before(long now, long micros) {
        return micros == FOREVER ? 0 : Math.max(0, now - micros);
    }
}
