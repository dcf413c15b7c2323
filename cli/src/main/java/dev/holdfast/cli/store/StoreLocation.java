package dev.holdfast.cli.store;

import dev.holdfast.cli.console.CliException;
import dev.holdfast.cli.console.DurationText;
import dev.holdfast.cli.console.ExitCode;
import dev.holdfast.cli.console.Printable;
import dev.holdfast.spi.StoreException;
import dev.holdfast.spi.StoreUri;
import dev.holdfast.store.sqlite.SqliteStoreProvider;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Which store is meant: the option, else the environment, else the default.
 *
 * @param text the URI as it was given, perhaps with credentials
 * @param uri the store
 * @param isDefault whether nobody named it
 * @param timeout how long it may take to be opened, and to answer a question
 */
public record StoreLocation(String text, StoreUri uri, boolean isDefault, Duration timeout) {

    public static final String VARIABLE = "HOLDFAST_STORE";
    public static final String TIMEOUT_VARIABLE = "HOLDFAST_STORE_TIMEOUT";
    static final Duration DEFAULT_TIMEOUT = Duration.ofSeconds(10);
    static final String DEFAULT = "sqlite:";

    private static final String MASK = "***";

    /**
     * Decides.
     *
     * @param option the value of {@code --store}, if it was given
     * @param environment the environment of this process
     * @throws CliException (usage) if that is no URI, or one whose credentials were taken out, or the time-out is none
     */
    public static StoreLocation of(@Nullable String option, Map<String, String> environment) {
        String inherited = environment.get(VARIABLE);
        boolean isInherited = option == null && inherited != null && !inherited.isEmpty();
        String text = option != null ? option : isInherited && inherited != null ? inherited : DEFAULT;
        StoreUri uri = parse(text, isInherited ? "$" + VARIABLE + ": " : "");
        StoreLocation location = new StoreLocation(text, uri, option == null && !isInherited, timeout(environment));
        if (isInherited && !location.isFile() && text.contains(MASK)) {
            // Falling back to some other store would run two holders at once.
            throw CliException.usage("$" + VARIABLE + " (" + Printable.escape(uri.toString())
                    + ") has no credentials: 'holdfast run' never hands them to its command. Name "
                    + "the store with --store");
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
                            UriHints.after("there is no store '" + uri + "'; the command knows " + known, text)));
        }
        if (uri.scheme().equals("sqlite") && uri.rest().startsWith("~")) {
            throw CliException.usage(where + "the shell leaves the '~' in " + Printable.quote(text)
                    + " as it is; write sqlite:$HOME/..., or sqlite:./~... for a file of that name");
        }
        return uri;
    }

    private static Duration timeout(Map<String, String> environment) {
        String text = environment.getOrDefault(TIMEOUT_VARIABLE, "");
        Duration timeout = text.isEmpty() ? DEFAULT_TIMEOUT : DurationText.parse("$" + TIMEOUT_VARIABLE, text);
        if (timeout.isZero()) {
            throw CliException.usage("$" + TIMEOUT_VARIABLE + " must be more than nothing");
        }
        return timeout;
    }

    /** Whether it is a file of this machine. */
    boolean isFile() {
        return uri.scheme().equals("sqlite");
    }

    /** Whether it is a store of a scheme, or one that is made of such stores. */
    boolean involves(String scheme) {
        String members = uri.rest().startsWith("(") ? uri.rest().toLowerCase(Locale.ROOT) : "";
        return uri.scheme().equals(scheme)
                || Stream.of("(", ",", " ").anyMatch(before -> members.contains(before + scheme + "://"));
    }

    /** For people: the URI, and of a file where it is. */
    public String describe() {
        return "store " + this + (isFile() ? " (" + Printable.escape(file().toString()) + ")" : "");
    }

    /** Whether no other process can reach it. */
    public boolean isOfThisProcess() {
        return uri.scheme().equals("memory");
    }

    /**
     * The file, whether it is there or not.
     *
     * @throws CliException if the URI names none (usage), or there is no place for the default file
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
     * Lets a command see which store its lock is on, so that a {@code holdfast} inside it means the same one; but never
     * the credentials. A store that nobody named stays unnamed.
     *
     * @param environment the command's, still with what this process was given; changed
     */
    public void showTo(Map<String, String> environment) {
        if (!isDefault) {
            environment.put(VARIABLE, isFile() ? absolute() : withoutCredentials());
        }
    }

    /** In doubt about what is a credential, without it. */
    private String withoutCredentials() {
        String masked = uri.toString();
        return masked.contains(MASK) ? masked : text;
    }

    /** The command may go to another directory, where a relative path would mean another file. */
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
