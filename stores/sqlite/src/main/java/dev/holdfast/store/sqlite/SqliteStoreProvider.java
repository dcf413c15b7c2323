package dev.holdfast.store.sqlite;

import dev.holdfast.spi.LockStore;
import dev.holdfast.spi.StoreException;
import dev.holdfast.spi.StoreProvider;
import dev.holdfast.spi.StoreUri;
import dev.holdfast.store.sqlite.SqliteStore.Synchronous;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Locale;
import java.util.Set;

/**
 * Opens {@code sqlite:} (a file under the user's state directory), {@code sqlite:/path}, {@code sqlite:///path} and
 * {@code sqlite:relative/path}, with the parameter {@code synchronous=full} or {@code synchronous=normal}.
 */
public final class SqliteStoreProvider implements StoreProvider {

    private static final String SYNCHRONOUS = "synchronous";

    /** For {@link java.util.ServiceLoader}. */
    public SqliteStoreProvider() {}

    @Override
    public Set<String> schemes() {
        return description().schemeNames();
    }

    @Override
    public LockStore open(StoreUri uri) {
        return builder(uri, DefaultFile.ofThisProcess()).open();
    }

    /**
     * The file that a URI names, for tools that check whether it exists before they open it, which would create it.
     * Does no I/O.
     *
     * @throws IllegalArgumentException if the URI does not have this form
     * @throws StoreException if it names the default file, and there is no directory for that
     */
    public static Path fileOf(StoreUri uri) {
        return uri.rest().isEmpty() ? DefaultFile.ofThisProcess().path() : file(uri);
    }

    static SqliteStore.Builder builder(StoreUri uri, DefaultFile byDefault) {
        uri.allowOnly(Set.of(SYNCHRONOUS));
        boolean isDefault = uri.rest().isEmpty();
        SqliteStore.Builder builder =
                isDefault ? SqliteStore.builder(byDefault.path()).makeDirectory() : SqliteStore.builder(file(uri));
        String synchronous = uri.parameters().get(SYNCHRONOUS);
        return synchronous == null ? builder : builder.synchronous(synchronous(synchronous));
    }

    private static Path file(StoreUri uri) {
        String rest = uri.rest();
        if (rest.startsWith("//") && !rest.startsWith("///")) {
            throw new IllegalArgumentException(
                    "A SQLite store is a local file: write sqlite:/path or sqlite:///path, not " + uri);
        }
        return Path.of(rest.startsWith("///") ? rest.substring(2) : rest);
    }

    private static Synchronous synchronous(String value) {
        try {
            return Synchronous.valueOf(value.toUpperCase(Locale.ROOT));
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException(
                    "The parameter 'synchronous' of a SQLite store must be one of "
                            + Arrays.toString(Synchronous.values()).toLowerCase(Locale.ROOT) + ", not '" + value + "'",
                    e);
        }
    }
}
