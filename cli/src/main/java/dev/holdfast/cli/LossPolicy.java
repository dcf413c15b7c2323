package dev.holdfast.cli;

import java.time.Duration;

/**
 * What to do when the lock can't be kept.
 *
 * @param action what comes first
 * @param program what to run for {@link Action#EXEC}, else empty
 * @param grace how long the command gets between that and KILL
 */
record LossPolicy(Action action, String program, Duration grace) {

    private static final String EXEC_PREFIX = "exec:";

    /** What comes first. */
    enum Action {
        /** TERM to the whole tree. */
        TERM,
        /** KILL to the whole tree. */
        KILL,
        /** Nothing: the command goes on, without the lock. */
        IGNORE,
        /** A program of the user's, in the place of TERM. */
        EXEC
    }

    /**
     * Reads the value of {@code --on-lost}.
     *
     * @throws CliException (usage) if it is none
     */
    static LossPolicy parse(String text, Duration grace) {
        if (text.startsWith(EXEC_PREFIX) && text.length() > EXEC_PREFIX.length()) {
            return new LossPolicy(Action.EXEC, text.substring(EXEC_PREFIX.length()), grace);
        }
        return switch (text) {
            case "term" -> new LossPolicy(Action.TERM, "", grace);
            case "kill" -> new LossPolicy(Action.KILL, "", Duration.ZERO);
            case "ignore" -> new LossPolicy(Action.IGNORE, "", Duration.ZERO);
            default ->
                throw CliException.usage(
                        "--on-lost takes term, kill, ignore or exec:PROGRAM, but got '" + Printable.escape(text) + "'");
        };
    }
}
