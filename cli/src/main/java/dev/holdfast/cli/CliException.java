package dev.holdfast.cli;

import org.jspecify.annotations.Nullable;

/** An end of the command that people are told in one sentence, with the exit code for scripts. */
final class CliException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    private final int exitCode;

    CliException(int exitCode, String message) {
        this(exitCode, message, null);
    }

    CliException(int exitCode, String message, @Nullable Throwable cause) {
        super(message, cause);
        this.exitCode = exitCode;
    }

    /** The command line is wrong. */
    static CliException usage(String message) {
        return new CliException(ExitCode.USAGE, message);
    }

    int exitCode() {
        return exitCode;
    }
}
