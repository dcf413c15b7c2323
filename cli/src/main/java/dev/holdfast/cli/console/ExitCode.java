package dev.holdfast.cli.console;

/**
 * The exit codes of the command, beside those of the command that it runs. They follow {@code sysexits.h} where that
 * has a fitting one; the same table stands in {@code holdfast run --help} and in {@code docs/cli.md}.
 */
public final class ExitCode {

    public static final int OK = 0;

    /** {@code release}: nobody holds it. */
    public static final int NOTHING_TO_RELEASE = 1;

    /** {@code members}: one of them is away, is kept out, or lacks what a majority holds. */
    public static final int MEMBERS_INCOMPLETE = 1;

    /** The command line is wrong; nothing was touched. */
    public static final int USAGE = 64;

    /** The store can't be reached, or did not answer. */
    public static final int STORE_UNAVAILABLE = 69;

    /** A bug in Holdfast. */
    public static final int INTERNAL = 70;

    /** The answer could not be written, to a full disk for one. */
    public static final int OUTPUT_FAILED = 74;

    /** Others kept the lock for all of the wait; {@code --conflict-exit-code} changes it. */
    public static final int CONFLICT = 75;

    /** The store refuses, is damaged, or has the name in use as something else: a person must act. */
    public static final int STORE_UNUSABLE = 78;

    /** The lock was lost while the command ran, however the command ended. */
    public static final int LOST = 79;

    /** The command ended well, but the store did not confirm the release. */
    public static final int RELEASE_UNCONFIRMED = 80;

    /** The command was found but can't be run, as in a shell. */
    public static final int CANNOT_RUN = 126;

    /** The command was not found, as in a shell. */
    public static final int NOT_FOUND = 127;

    /** What a shell adds to the number of the signal that ended a command. */
    public static final int SIGNAL_BASE = 128;

    private ExitCode() {}
}
