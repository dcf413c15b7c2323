package dev.holdfast.cli.run;

import java.util.Calendar;

/**
 * Loads what SQLite's driver will need, in parallel with the rest of the start.
 *
 * <p>The driver prepares to read dates, although no table here has any, and the first calendar of a JVM loads the time
 * zones and the conventions of the locale: a fifth of the start of the command. With a second processor, that has been
 * done when the driver needs it.
 */
public final class DriverWarmUp {

    private DriverWarmUp() {}

    /** Begins; returns at once. */
    public static void begin() {
        Thread thread = new Thread(DriverWarmUp::loadCalendar, "holdfast-driver-warm-up");
        thread.setDaemon(true);
        thread.start();
    }

    private static void loadCalendar() {
        Calendar unused = Calendar.getInstance();
    }
}
