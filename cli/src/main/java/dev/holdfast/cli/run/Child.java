package dev.holdfast.cli.run;

import dev.holdfast.cli.console.CliException;
import dev.holdfast.cli.console.ExitCode;
import dev.holdfast.cli.console.Printable;
import java.io.File;
import java.io.IOException;
import java.lang.ProcessBuilder.Redirect;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Starts the command. */
final class Child {

    /** An input that is empty. */
    static final Redirect NOTHING = Redirect.from(new File("/dev/null"));

    /**
     * "error=2, No such file or directory" up to Java 24, "Exec failed, error: 2 (No such file or directory)" since.
     */
    private static final Pattern SAID_BY_THE_SYSTEM =
            Pattern.compile(".*?error[=:] ?(?<number>[0-9]+)(, | \\()(?<words>.*?)\\)?", Pattern.DOTALL);

    /** POSIX's ENOENT. */
    private static final String NO_SUCH_FILE = "2";

    private Child() {}

    /** Prepares a command that has the input and output of this process. */
    static ProcessBuilder prepare(List<String> command, boolean withStdin) {
        ProcessBuilder builder = new ProcessBuilder(command).inheritIO();
        return withStdin ? builder : builder.redirectInput(NOTHING);
    }

    /**
     * Starts the command.
     *
     * @throws CliException if there is no such command (127), or it can't be run (126), with the exit codes of a shell
     */
    static Process start(ProcessBuilder builder) {
        String program = Printable.quote(builder.command().get(0));
        try {
            return builder.start();
        } catch (IOException e) {
            // The cause has the system's message; this one also quotes the program.
            Throwable cause = e.getCause();
            String reason =
                    String.valueOf((cause == null ? e : cause).getMessage()).strip();
            Matcher said = SAID_BY_THE_SYSTEM.matcher(reason);
            String words = said.matches() ? said.group("words") : reason;
            int code = said.matches() && said.group("number").equals(NO_SUCH_FILE)
                    ? ExitCode.NOT_FOUND
                    : ExitCode.CANNOT_RUN;
            throw new CliException(
                    code, "can't run " + program + ": " + Printable.escape(words) + hint(code, builder), e);
        } catch (IllegalArgumentException | NullPointerException e) {
            throw new CliException(
                    ExitCode.CANNOT_RUN,
                    "can't run " + program + ": " + Printable.escape(String.valueOf(e.getMessage())),
                    e);
        }
    }

    private static String hint(int code, ProcessBuilder builder) {
        if (code == ExitCode.NOT_FOUND) {
            return builder.environment().get("PATH") == null ? " ($PATH is not set)" : "";
        }
        String program = builder.command().get(0);
        Path file = Path.of(program);
        if (program.indexOf('/') < 0 || !Files.exists(file)) {
            return "";
        }
        return Files.isDirectory(file)
                ? " (it is a directory)"
                : Files.isExecutable(file) ? "" : " ('chmod +x' makes it executable)";
    }
}
