package dev.holdfast.store.sqlite;

import dev.holdfast.spi.StoreException;
import dev.holdfast.spi.StoreException.Effect;
import dev.holdfast.spi.StoreException.Reason;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.Locale;
import java.util.Map;

/**
 * The default file, in the directory for a user's persistent state by the conventions of the system. The first
 * directory that is set applies even if it is unusable: if processes fell back to different places, two could hold the
 * same lock.
 */
final class DefaultFile {

    private final Map<String, String> environment;
    private final String userHome;
    private final String system;

    /**
     * Only stores the settings.
     *
     * @param userHome the property {@code user.home}: the user's home directory according to the system, or {@code ?}
     *     if it does not know the user
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
     * The path of the file; does no I/O.
     *
     * @throws StoreException ({@code DENIED}) if the directory is not absolute, or none is set
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
            throw denied("there is no location for the default file: $" + variable
                    + " is not set, and this user has no home directory. Set the variable, or name a file");
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
            throw denied("$" + variable + " is not a valid path: " + e.getMessage());
        }
        throw denied("$" + variable + " is '" + value
                + "', a relative path, which depends on the working directory: set it to an absolute "
                + "path, or name a file");
    }

    private static StoreException denied(String message) {
        return new StoreException(Reason.DENIED, Effect.NONE, message, null);
    }
}
