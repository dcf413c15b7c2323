package dev.holdfast.servers;

import java.nio.file.Path;
import java.util.Optional;

/**
 * Finds the browser in which pages are tested: the one named by the system property {@code holdfast.chromium} or the
 * environment variable {@code HOLDFAST_CHROMIUM}, otherwise one on the path, otherwise a copy of Debian's that was
 * fetched earlier. It has half a gigabyte, so it is fetched only where tests need it: where the environment variable
 * {@code HOLDFAST_NEEDS_CHROMIUM} is {@code true}.
 */
public final class Chromium {

    /** If this environment variable is {@code true}, what needs the browser fails without one. */
    public static final String NEEDED = "HOLDFAST_NEEDS_CHROMIUM";

    private static final String PROPERTY = "holdfast.chromium";
    private static final String VARIABLE = "HOLDFAST_CHROMIUM";

    /** Its C library is no newer than that of most machines, which a browser can't do without. */
    private static final DebianProgram DEBIAN =
            new DebianProgram("chromium", "bookworm", "usr/lib/chromium/chromium-headless-shell");

    private Chromium() {}

    /** Searched once in a JVM. */
    private static final class Found {
        static final Optional<Path> PROGRAM = LocalBinaries.at(PROPERTY, VARIABLE)
                .or(() -> DebianProgram.onThePath("chromium-headless-shell", "chromium", "google-chrome"))
                .or(DEBIAN::fetchedEarlier)
                .or(() -> isNeeded() ? DEBIAN.fetched() : Optional.empty());

        private Found() {}
    }

    /** The program; empty if it can't be found or fetched. */
    public static Optional<Path> find() {
        return Found.PROGRAM;
    }

    /** Whether tests have to fail without one. */
    public static boolean isNeeded() {
        return "true".equals(System.getenv(NEEDED));
    }
}
