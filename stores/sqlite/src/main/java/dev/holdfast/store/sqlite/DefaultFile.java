package dev.holdfast.store.sqlite;

import dev.holdfast.spi.StoreException;
import dev.holdfast.spi.StoreException.Effect;
import dev.holdfast.spi.StoreException.Reason;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.Locale;
import java.util.Map;

/**
 * Where a user's programs keep what should survive them, by the customs of the system. The first place that is set
 * counts, whether or not it can be used: two processes that went on to different places would hold the same lock.
 */
final class DefaultFile {

    private final Map<String, String> environment;
    private final String userHome;
    private final String system;

    /**
     * Looks at nothing yet.
     *
     * @param userHome the property {@code user.home}: what the system knows of the user, or {@code ?} if it knows no
     *     such user
     * @param system the property {@code os.name}
     */
    DefaultFile(Map<String, String> environment, String userHome, String system) {
        this.environment = environment;
        this.userHome = userHome;
        this.system = system.toLowerCase(Locale.ROOT);
    }

    static DefaultFile ofThisProcess() {
        return new DefaultFile(System.getenv(), System.getProperty("user.home", ""), System.getProperty("os.name"));
    }

    /**
     * Finds the file; touches nothing.
     *
     * @throws StoreException ({@code DENIED}) if the place is not absolute, or none is set
     */
    Path path() {
        return directory().resolve("holdfast").resolve("locks.db");
    }

    private Path directory() {
        if (system.startsWith("windows")) {
            return isSet("LOCALAPPDATA")
                    ? absolute("LOCALAPPDATA")
                    : home("USERPROFILE").resolve("AppData").resolve("Local");
        } else if (system.startsWith("mac")) {
            return home("HOME").resolve("Library").resolve("Application Support");
        }
        return isSet("XDG_STATE_HOME")
                ? absolute("XDG_STATE_HOME")
                : home("HOME").resolve(".local").resolve("state");
    }

    private Path home(String variable) {
        if (isSet(variable)) {
            return absolute(variable);
        }
        Path known = Path.of(userHome);
        if (userHome.isEmpty() || !known.isAbsolute()) {
            throw denied("there is no place for the default file: $" + variable
                    + " is not set, and the system knows no home directory of this user. Set it, or name a file");
        }
        return known;
    }

    private boolean isSet(String variable) {
        return !environment.getOrDefault(variable, "").isEmpty();
    }

    private Path absolute(String variable) {
        String value = environment.getOrDefault(variable, "");
        try {
            Path path = Path.of(value);
            if (path.isAbsolute()) {
                return path;
            }
        } catch (InvalidPathException e) {
            throw denied("$" + variable + " is no path: " + e.getMessage());
        }
        throw denied("$" + variable + " is '" + value
                + "', which is another place in each directory: set it to an absolute path, or name a file");
    }

    private static StoreException denied(String message) {
        return new StoreException(Reason.DENIED, Effect.NONE, message, null);
    }
}
