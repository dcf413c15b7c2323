package dev.holdfast.store.sqlite;

import java.util.Properties;
import org.sqlite.SQLiteConfig;

/**
 * Prevents two copies of SQLite in one process from opening the same file. On POSIX systems a file lock belongs to the
 * process: two copies do not see each other's locks, and each drops those of the other when it closes the file. So the
 * file would be damaged, and its locks would have two owners (see <a
 * href="https://www.sqlite.org/howtocorrupt.html">How To Corrupt An SQLite Database File</a>, section 2.2.1). There are
 * two copies if two class loaders have loaded the driver, such as those of two applications in one server.
 *
 * <p>All class loaders of a JVM share its system properties, so there is one for each open file, with the copy that has
 * it open and how often. Thread-safe.
 */
final class DriverCopies {

    private static final String PREFIX = "dev.holdfast.store.sqlite.open.";

    /** The driver that this class loader sees. */
    static final DriverCopies THIS = new DriverCopies(Integer.toHexString(System.identityHashCode(SQLiteConfig.class)));

    private final String mark;

    /** @param copy identifies a copy of the driver in this JVM */
    DriverCopies(String copy) {
        this.mark = copy + ":";
    }

    /**
     * Records that this copy is about to open a file.
     *
     * @param file the identity of the file
     * @return false, with nothing changed, if another copy has it open
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

    /** Records that this copy has closed a file that it had entered. */
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
