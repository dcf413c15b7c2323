package dev.holdfast.store.sqlite;

import java.util.Properties;
import org.sqlite.SQLiteConfig;

/**
 * Keeps two copies of SQLite in one process away from one file. On POSIX systems a lock on a file belongs to the
 * process: two copies don't see each other's locks, and each drops those of the other when it closes the file, so the
 * file would be damaged and its locks would have two owners (see <a
 * href="https://www.sqlite.org/howtocorrupt.html">How To Corrupt An SQLite Database File</a>, section 2.2.1). There are
 * two copies where two class loaders have loaded the driver, such as those of two applications in one server.
 *
 * <p>What all class loaders of a JVM share are its system properties, so there is one for each open file, with the copy
 * that has it and how often. Thread-safe.
 */
final class DriverCopies {

    private static final String PREFIX = "dev.holdfast.store.sqlite.open.";

    /** The driver that this class loader sees. */
    static final DriverCopies THIS = new DriverCopies(Integer.toHexString(System.identityHashCode(SQLiteConfig.class)));

    private final String mark;

    /** @param copy what tells a copy of the driver from the others of this JVM */
    DriverCopies(String copy) {
        this.mark = copy + ":";
    }

    /**
     * Says that this copy is about to open a file.
     *
     * @param file what tells it from every other one
     * @return false if another copy has it open: then nothing has changed
     */
    boolean enter(Object file) {
        Properties properties = System.getProperties();
        Object now = properties.compute(PREFIX + file, (name, open) -> {
            if (open == null) {
                return mark + 1;
            }
            return isOurs(open) ? mark + (count(open) + 1) : open;
        });
        return isOurs(now);
    }

    /** Whether any copy has a file open. */
    static boolean isEntered(Object file) {
        return System.getProperties().containsKey(PREFIX + file);
    }

    /** Says that this copy has closed a file that it had entered. */
    void leave(Object file) {
        System.getProperties().computeIfPresent(PREFIX + file, (name, open) -> {
            if (!isOurs(open)) {
                return open;
            }
            return count(open) == 1 ? null : mark + (count(open) - 1);
        });
    }

    private boolean isOurs(Object open) {
        return open.toString().startsWith(mark);
    }

    private int count(Object open) {
        return Integer.parseInt(open.toString().substring(mark.length()));
    }
}
