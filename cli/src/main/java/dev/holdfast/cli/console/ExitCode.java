package dev.holdfast.cli.console;

/**
 * The exit codes of Holdfast itself; otherwise {@code run} exits with the code of its command. They follow {@code
 * sysexits.h} where it has a matching code. {@code holdfast run --help} and {@code docs/cli.md} have the same table.
 */
public final class ExitCode {

    public static final int OK = 0;

    /** {@code release}: the lock has no holder. */
    public static final int NOTHING_TO_RELEASE = 1;

    /** {@code members}: one can't be reached, is kept out, or lacks what a majority holds. */
    public static final int MEMBERS_INCOMPLETE = 1;

    /** The command line is wrong; nothing was touched. */
    public static final int USAGE = 64;

    /** The store can't be reached, or did not reply. */
    public static final int STORE_UNAVAILABLE = 69;

    /** A bug in Holdfast. */
    public static final int INTERNAL = 70;

    /** The output could not be written, for example to a full disk. */
    public static final int OUTPUT_FAILED = 74;

    /** Others kept the lock for all of the wait; {@code --conflict-exit-code} sets another code. */
    public static final int CONFLICT = 75;

    /** The store refuses, is damaged, or uses the name for another kind of lock: a person must act. */
    public static final int STORE_UNUSABLE = 78;

    /** The lock was lost while the command ran, whatever its own exit code. */
    public static final int LOST = 79;

    /** The command succeeded, but the store did not confirm the release. */
    public static final int RELEASE_UNCONFIRMED = 80;

    /** The command was found but can't be run, as in a shell. */
    public static final int CANNOT_RUN = 126;

    /** The command was not found, as in a shell. */
    public static final int NOT_FOUND = 127;

    /** Added, as by a shell, to the number of the signal that ended the command. */
    public static final int SIGNAL_BASE = 128;

    private ExitCode() {}
}
