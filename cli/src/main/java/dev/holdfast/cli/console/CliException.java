package dev.holdfast.cli.console;

import org.jspecify.annotations.Nullable;

/** Ends the command with a sentence for people and an exit code for scripts. */
public final class CliException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    private final int exitCode;

    public CliException(int exitCode, String message) {
        this(exitCode, message, null);
    }

    public CliException(int exitCode, String message, @Nullable Throwable cause) {
        super(message, cause);
        this.exitCode = exitCode;
    }

    /** The command line is wrong. */
    public static CliException usage(String message) {
        return new CliException(ExitCode.USAGE, message);
    }

    public int exitCode() {
        return exitCode;
    }
}
