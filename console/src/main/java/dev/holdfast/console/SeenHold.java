package dev.holdfast.console;

import java.time.Duration;
import java.time.Instant;

/**
 * A hold that has ended, as the console saw it.
 *
 * @param process the label of its client
 * @param token the first token of its newest block
 * @param from the time of the grant
 * @param to when the console first read the name without this hold
 * @param waited how long its claim was seen waiting
 * @param end how it ended
 * @param handOvers how many changes of the token were seen: threads of one process that passed the grant on
 */
record SeenHold(String process, long token, Instant from, Instant to, Duration waited, End end, int handOvers) {

    /** How a hold ended, as far as polling shows it. */
    enum End {
        RELEASED,
        /** It was no longer renewed, and its lease had ended. */
        EXPIRED,
        /** By this console. */
        FORCED;

        String word() {
            return name().toLowerCase(java.util.Locale.ROOT);
        }
    }

    Duration length() {
        return Duration.between(from, to);
    }
}
