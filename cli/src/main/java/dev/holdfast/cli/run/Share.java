package dev.holdfast.cli.run;

import dev.holdfast.cli.console.CliException;
import dev.holdfast.cli.console.Printable;
import org.jspecify.annotations.Nullable;

/**
 * What part of a lock a command wants.
 *
 * @param permits how many of a semaphore's permits; 1 for what is not a semaphore
 * @param of how many permits there are
 */
record Share(Kind kind, int permits, int of) {

    /** The whole of a plain lock. */
    static final Share ALONE = new Share(Kind.ALONE, 1, 1);

    private static final int MAX_DIGITS = 9;

    /** How others may hold it at the same time. */
    enum Kind {
        /** Not at all. */
        ALONE,
        /** With others who share, as a reader. */
        SHARED,
        /** Not at all, and others share it at other times: as a writer. */
        EXCLUSIVE,
        /** As long as there are permits. */
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
            throw CliException.usage(
                    "--shared, --exclusive and --permits are three different things; give one of them");
        }
        if (permits != null) {
            return parse(permits);
        }
        return isShared ? new Share(Kind.SHARED, 1, 1) : isExclusive ? new Share(Kind.EXCLUSIVE, 1, 1) : ALONE;
    }

    private static Share parse(String text) {
        int slash = text.indexOf('/');
        int permits = number(slash < 0 ? null : text.substring(0, slash));
        int of = number(slash < 0 ? null : text.substring(slash + 1));
        if (permits < 1 || of < 1) {
            throw CliException.usage(
                    "--permits takes K/N, such as 1/3 for one of three, but got '" + Printable.escape(text) + "'");
        }
        if (permits > of) {
            throw CliException.usage(
                    "--permits " + text + " asks for " + permits + " of " + of + ", which never come free; to take "
                            + of + " of " + permits + ", say --permits " + of + "/" + permits);
        }
        return new Share(Kind.PERMITS, permits, of);
    }

    /** Plain digits; -1 for anything else. */
    private static int number(@Nullable String text) {
        if (text == null || text.isEmpty() || text.length() > MAX_DIGITS) {
            return -1;
        }
        for (int i = 0; i < text.length(); i++) {
            if (text.charAt(i) < '0' || text.charAt(i) > '9') {
                return -1;
            }
        }
        return Integer.parseInt(text);
    }
}
