package dev.holdfast.store.sql;

import dev.holdfast.spi.LockStore;
import dev.holdfast.spi.StoreProvider;
import dev.holdfast.spi.StoreUri;
import dev.holdfast.store.sql.SqliteStore.Synchronous;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Locale;
import java.util.Map;
import java.util.Set;

/**
 * Opens {@code sqlite:} (a file under the user's state directory), {@code sqlite:/path}, {@code sqlite:///path} and {@code sqlite:relative/path}, with the parameter {@code
 * synchronous=full} or {@code synchronous=normal}.
 */
public final class SqliteStoreProvider implements StoreProvider {

    private static final String SYNCHRONOUS = "synchronous";

    /** For {@link java.util.ServiceLoader}. */
    public SqliteStoreProvider() {}

    @Override
    public Set<String> schemes() {
        return Set.of("sqlite");
    }

    @Override
    public LockStore open(StoreUri uri) {
        return builder(uri, System.getenv(), System.getProperty("user.home"), System.getProperty("os.name"))
                .open();
    }

    /**
     * The file that a URI means, for tools that want to know whether it is there before they open it, which would make it. Touches nothing.
     *
     * @throws IllegalArgumentException if the URI is not of this form
     */
    public static Path fileOf(StoreUri uri) {
        return uri.rest().isEmpty()
                ? defaultFile(System.getenv(), System.getProperty("user.home"), System.getProperty("os.name"))
                : file(uri);
    }

    static SqliteStore.Builder builder(StoreUri uri, Map<String, String> environment, String home, String system) {
        uri.allowOnly(Set.of(SYNCHRONOUS));
        boolean isDefault = uri.rest().isEmpty();
        SqliteStore.Builder builder = isDefault
                ? SqliteStore.builder(defaultFile(environment, home, system)).makeDirectory()
                : SqliteStore.builder(file(uri));
        String synchronous = uri.parameters().get(SYNCHRONOUS);
        return synchronous == null ? builder : builder.synchronous(synchronous(synchronous));
    }

    private static Path file(StoreUri uri) {
        String rest = uri.rest();
        if (rest.startsWith("//") && !rest.startsWith("///")) {
            throw new IllegalArgumentException(
                    "A SQLite store is a file of this machine: write sqlite:/path or sqlite:///path, not " + uri);
        }
        return Path.of(rest.startsWith("///") ? rest.substring(2) : rest);
    }

    /** Where a user's programs keep what should survive them, by the customs of the system. */
    static Path defaultFile(Map<String, String> environment, String home, String system) {
        String name = system.toLowerCase(Locale.ROOT);
        Path directory;
        if (name.startsWith("windows")) {
            String local = environment.get("LOCALAPPDATA");
            directory = local == null || local.isEmpty() ? Path.of(home, "AppData", "Local") : Path.of(local);
        } else if (name.startsWith("mac")) {
            directory = Path.of(home, "Library", "Application Support");
        } else {
            String state = environment.get("XDG_STATE_HOME");
            // A relative path there is to be ignored, says the custom.
            directory = state == null || !state.startsWith("/") ? Path.of(home, ".local", "state") : Path.of(state);
        }
        return directory.resolve("holdfast").resolve("locks.db");
    }

    private static Synchronous synchronous(String value) {
        try {
            return Synchronous.valueOf(value.toUpperCase(Locale.ROOT));
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException(
                    "The parameter 'synchronous' of a SQLite store is one of "
                            + Arrays.toString(Synchronous.values()).toLowerCase(Locale.ROOT) + ", not '" + value + "'",
                    e);
        }
    }
}
