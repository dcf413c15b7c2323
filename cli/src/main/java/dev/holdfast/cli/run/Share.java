package dev.holdfast.cli.run;

import dev.holdfast.cli.console.CliException;
import dev.holdfast.cli.console.DurationText;
import dev.holdfast.cli.console.Printable;

/**
 * The part of a lock that a command wants.
 *
 * @param permits the permits of a semaphore to take; 1 for other kinds
 * @param total the permits that the semaphore has
 */
record Share(Kind kind, int permits, int total) {

    /** The whole of a plain lock. */
    static final Share ALONE = new Share(Kind.ALONE, 1, 1);

    private static final int MAX_DIGITS = 9;

    /** Whether others may hold the lock at the same time. */
    enum Kind {
        /** No. */
        ALONE,
        /** Others who share it: a reader. */
        SHARED,
        /** No, but others share it at other times: a writer. */
        EXCLUSIVE,
        /** Others, as long as there are permits. */
        PERMITS
    }

    /**
     * Checks what a command line asks for.
     *
     * @throws CliException (usage) with the first mistake
     */
    static Share of(RunArguments given) {
        boolean isShared = given.has(RunOption.SHARED);
        boolean isExclusive = given.has(RunOption.EXCLUSIVE);
        String permits = given.value(RunOption.PERMITS);
        if ((isShared ? 1 : 0) + (isExclusive ? 1 : 0) + (permits == null ? 0 : 1) > 1) {
            throw CliException.usage("--shared, --exclusive and --permits exclude each other; use only one of them");
        }
        if (permits != null) {
            return parse(permits);
        }
        return isShared ? new Share(Kind.SHARED, 1, 1) : isExclusive ? new Share(Kind.EXCLUSIVE, 1, 1) : ALONE;
    }

    private static Share parse(String text) {
        int slash = text.indexOf('/');
        int permits = slash < 0 ? -1 : DurationText.digits(text.substring(0, slash), MAX_DIGITS);
        int total = slash < 0 ? -1 : DurationText.digits(text.substring(slash + 1), MAX_DIGITS);
        if (permits < 1 || total < 1) {
            throw CliException.usage(
                    "--permits takes K/N, such as 1/3 for one of three, but got '" + Printable.escape(text) + "'");
        }
        if (permits > total) {
            throw CliException.usage("--permits " + text + " asks for " + permits + " of " + total
                    + ", which can never be granted; to take " + total + " of " + permits + ", use --permits " + total
                    + "/" + permits);
        }
        return new Share(Kind.PERMITS, permits, total);
    }
}
