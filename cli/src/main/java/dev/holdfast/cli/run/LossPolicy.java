package dev.holdfast.cli.run;

import dev.holdfast.cli.console.CliException;
import dev.holdfast.cli.console.Printable;
import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.stream.Stream;

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
     * Sees to it that the program of the user's is there before anything depends on it.
     *
     * @throws CliException (usage) if it can't be found or run
     */
    void requireProgram(Map<String, String> environment) {
        if (action == Action.EXEC && !isRunnable(environment.getOrDefault("PATH", ""))) {
            throw CliException.usage("--on-lost names the program " + Printable.quote(program)
                    + ", which can't be run; the command was not run");
        }
    }

    private boolean isRunnable(String path) {
        if (program.indexOf('/') >= 0) {
            return isRunnable(Path.of(program));
        }
        return Stream.of(path.split(File.pathSeparator, -1)).anyMatch(each -> isRunnable(Path.of(each, program)));
    }

    private static boolean isRunnable(Path file) {
        return Files.isRegularFile(file) && Files.isExecutable(file);
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
