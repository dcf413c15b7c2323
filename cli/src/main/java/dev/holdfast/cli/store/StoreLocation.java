package dev.holdfast.cli.store;

import dev.holdfast.cli.console.CliException;
import dev.holdfast.cli.console.DurationText;
import dev.holdfast.cli.console.ExitCode;
import dev.holdfast.cli.console.Printable;
import dev.holdfast.spi.StoreException;
import dev.holdfast.spi.StoreUri;
import dev.holdfast.store.sqlite.SqliteStoreProvider;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The store to use: named by the option, otherwise by the environment or the configuration file, otherwise the default.
 *
 * @param text the URI as it was given, perhaps with credentials
 * @param uri the URI, parsed
 * @param isDefault whether neither option nor environment names a store
 * @param timeout the store time-out, for opening the store and for each reply
 */
public record StoreLocation(String text, StoreUri uri, boolean isDefault, Duration timeout) {

    public static final String VARIABLE = "HOLDFAST_STORE";
    public static final String TIMEOUT_VARIABLE = "HOLDFAST_STORE_TIMEOUT";
    static final Duration DEFAULT_TIMEOUT = Duration.ofSeconds(10);
    static final String DEFAULT = "sqlite:";

    private static final String MASK = "***";

    /** As {@link #of(String, Configuration)}, without a configuration file. */
    public static StoreLocation of(@Nullable String option, Map<String, String> environment) {
        return of(option, Configuration.of(environment));
    }

    /**
     * Finds the store to use.
     *
     * @param option the value of {@code --store}, if it was given
     * @param configuration the settings of this process
     * @throws CliException (usage) if the URI is malformed or its credentials were removed, or the time-out is invalid
     */
    public static StoreLocation of(@Nullable String option, Configuration configuration) {
        Configuration.Source source = option == null ? configuration.source(VARIABLE) : Configuration.Source.DEFAULT;
        boolean isConfigured = source != Configuration.Source.DEFAULT;
        boolean isInherited = source == Configuration.Source.ENVIRONMENT;
        String text = option != null ? option : isConfigured ? configuration.value(VARIABLE) : DEFAULT;
        StoreUri uri = parse(text, isConfigured ? configuration.describe(VARIABLE) + ": " : "");
        StoreLocation location = new StoreLocation(text, uri, option == null && !isInherited, timeout(configuration));
        if (isInherited && !location.isFile() && text.contains(MASK)) {
            // A fallback to another store would let two holders run at once.
            throw CliException.usage("$" + VARIABLE + " (" + Printable.escape(uri.toString())
                    + ") has no credentials, because 'holdfast run' never passes them to its "
                    + "command. Set the store with --store");
        }
        return location;
    }

    private static StoreUri parse(String text, String where) {
        StoreUri uri;
        try {
            uri = StoreUri.parse(text);
        } catch (IllegalArgumentException e) {
            throw new CliException(
                    ExitCode.USAGE, where + Printable.escape(UriHints.after(String.valueOf(e.getMessage()), text)), e);
        }
        if (!UriHints.schemes().contains(uri.scheme())) {
            String known = String.join(": ", UriHints.schemes()) + ":";
            throw CliException.usage(where
                    + Printable.escape(
                            UriHints.after("unknown store '" + uri + "'; known schemes are " + known, text)));
        }
        if (uri.scheme().equals("sqlite") && uri.rest().startsWith("~")) {
            throw CliException.usage(where + "the shell doesn't expand the '~' in " + Printable.quote(text)
                    + "; write sqlite:$HOME/..., or sqlite:./~... for a file with that name");
        }
        return uri;
    }

    private static Duration timeout(Configuration configuration) {
        String text = configuration.value(TIMEOUT_VARIABLE);
        if (text.isEmpty()) {
            return DEFAULT_TIMEOUT;
        }
        String name = configuration.describe(TIMEOUT_VARIABLE);
        Duration timeout = DurationText.parse(name, text);
        if (timeout.isZero()) {
            throw CliException.usage(name + " must be longer than zero");
        }
        return timeout;
    }

    /** Whether the store is a file of this machine. */
    boolean isFile() {
        return uri.scheme().equals("sqlite");
    }

    /** Whether the store or one of its members has this scheme. */
    boolean involves(String scheme) {
        String members = uri.rest().startsWith("(") ? uri.rest().toLowerCase(Locale.ROOT) : "";
        return uri.scheme().equals(scheme)
                || Stream.of("(", ",", " ").anyMatch(before -> members.contains(before + scheme + "://"));
    }

    /** The URI, and the path of a file, for people. */
    public String describe() {
        return "store " + this + (isFile() ? " (" + Printable.escape(file().toString()) + ")" : "");
    }

    /** The kind of the store: its scheme. */
    public String scheme() {
        return uri.scheme();
    }

    /** Where the store is, for people: a file, or host and path without user, password and parameters. */
    public String place() {
        if (isFile()) {
            return file().toString();
        }
        if (uri.rest().startsWith("(")) {
            return uri.rest().split(",", -1).length + " members";
        }
        // What comes before an at sign is masked already, as a whole: a password may contain slashes.
        String shown = new StoreUri(uri.scheme(), uri.rest(), Map.of()).toString();
        String address = shown.substring(uri.scheme().length() + 1);
        address = address.startsWith("//") ? address.substring(2) : address;
        return address.startsWith(MASK + "@") ? address.substring(MASK.length() + 1) : address;
    }

    /** Whether no other process can reach the store. */
    public boolean isOfThisProcess() {
        return uri.scheme().equals("memory");
    }

    /**
     * The path of the file, which need not exist.
     *
     * @throws CliException if the URI names no file (usage), or no directory can hold the default file
     */
    Path file() {
        try {
            return SqliteStoreProvider.fileOf(uri).toAbsolutePath();
        } catch (IllegalArgumentException e) {
            throw new CliException(ExitCode.USAGE, Printable.escape(String.valueOf(e.getMessage())), e);
        } catch (StoreException e) {
            throw Stores.failure(this, e);
        }
    }

    /**
     * A hint for a user who became another one by {@code sudo}: without a configured store, each user has a separate
     * file, so their locks don't exclude each other.
     *
     * @param homes the directory of the users' home directories
     * @return empty unless the other user's file exists
     */
    public Optional<String> otherUsersDefault(Map<String, String> environment, Path homes) {
        String user = environment.getOrDefault("SUDO_USER", "");
        if (!isDefault || !text.equals(DEFAULT) || !user.matches("[A-Za-z0-9_][A-Za-z0-9_.-]*")) {
            return Optional.empty();
        }
        Path other = homes.resolve(user).resolve(".local/state/holdfast/locks.db");
        Path ours = file();
        return other.equals(ours) || !Files.exists(other)
                ? Optional.empty()
                : Optional.of("the default store is a file of each user: this command uses "
                        + Printable.quote(ours.toString()) + ", those of " + user + " use "
                        + Printable.quote(other.toString())
                        + ". To share locks, name one store in /etc/holdfast/config");
    }

    /**
     * Passes the URI of the store to a command, without credentials, so that a {@code holdfast} inside it uses the same
     * store. The default store is not passed.
     *
     * @param environment the command's environment, so far that of this process; changed
     */
    public void showTo(Map<String, String> environment) {
        if (!isDefault) {
            environment.put(VARIABLE, isFile() ? absolute() : withoutCredentials());
        }
    }

    /** Without anything that may be a credential. */
    private String withoutCredentials() {
        String masked = uri.toString();
        return masked.contains(MASK) ? masked : text;
    }

    /** With an absolute path: the command may change to a directory where a relative path would mean another file. */
    private String absolute() {
        if (uri.rest().isEmpty() || uri.rest().startsWith("/")) {
            return text;
        }
        int rest = text.indexOf(':') + 1;
        return text.substring(0, rest)
                + file()
                + text.substring(rest + uri.rest().length());
    }

    @Override
    public String toString() {
        return Printable.escape(uri.toString());
    }
}
