package dev.holdfast.cli.run;

import java.util.Calendar;

/**
 * Begins, beside the rest of the start, what takes long and depends on nothing.
 *
 * <p>SQLite's driver prepares to read dates, which are in no table of ours, and the first calendar of a JVM makes it
 * read the time zones and the customs of the locale: a fifth of what the command does at its start. On a machine with a
 * second processor that is over when the driver asks for it.
 */
public final class HeadStart {

    private HeadStart() {}

    /** Begins; returns at once. */
    public static void begin() {
        Thread thread = new Thread(HeadStart::readTheCustoms, "holdfast-head-start");
        thread.setDaemon(true);
        thread.start();
    }

    private static void readTheCustoms() {
        Calendar unused = Calendar.getInstance();
    }
}
