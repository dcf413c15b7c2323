package dev.holdfast.spi.support;

import dev.holdfast.spi.StoreUri;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.format.DateTimeParseException;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Reads the URI of a store on a server, {@code scheme://[user[:password]@]host[:port][,host[:port]…][/path]?…}. Its
 * messages name the wrong part, and never contain a password. Thread-safe.
 */
public final class UriReader {

    private static final String SLASHES = "//";
    private static final int HIGHEST_PORT = 65_535;

    private final StoreUri uri;
    private final String store;
    private final String form;

    /**
     * Makes a reader.
     *
     * @param store the kind of store with its article, such as {@code a Redis store}
     * @param form what should follow the scheme and its colon, for people
     */
    public UriReader(StoreUri uri, String store, String form) {
        this.uri = uri;
        this.store = store;
        this.form = form;
    }

    /**
     * The authority of a URI (RFC 3986): the user and the servers.
     *
     * @param user decoded; null for none
     * @param password decoded; null for none
     * @param servers at least one, and none empty; otherwise neither decoded nor checked
     */
    public record Authority(@Nullable String user, @Nullable String password, List<String> servers) {

        /** Without the password. */
        @Override
        public String toString() {
            return "Authority" + servers;
        }
    }

    /**
     * The address of a server.
     *
     * @param host a name or an address; one of IPv6 without its brackets
     */
    public record Server(String host, int port) {

        /**
         * Reads {@code host[:port]}, with an address of IPv6 in brackets; empty if the text is not of this form. The
         * host is not checked.
         *
         * @param port the default port
         */
        public static Optional<Server> parse(String text, int port) {
            int colon = text.endsWith("]") ? -1 : text.lastIndexOf(':');
            String host = colon < 0 ? text : text.substring(0, colon);
            boolean isBracketed = host.startsWith("[") && host.endsWith("]");
            String name = isBracketed ? host.substring(1, host.length() - 1) : host;
            if (name.isEmpty() || (!isBracketed && name.indexOf(':') >= 0)) {
                return Optional.empty();
            }
            OptionalInt number = colon < 0 ? OptionalInt.of(port) : number(text.substring(colon + 1), 1, HIGHEST_PORT);
            return number.isPresent() ? Optional.of(new Server(name, number.getAsInt())) : Optional.empty();
        }
    }

    /**
     * Reads the part between the two slashes and the path.
     *
     * @throws IllegalArgumentException if there are no two slashes, a server has no name, or user or password are not
     *     percent-encoded
     */
    public Authority authority() {
        String rest = uri.rest();
        int begin = beginOfServers();
        List<String> servers =
                List.of(rest.substring(begin, endOfServers(begin)).split(",", -1));
        if (servers.contains("")) {
            throw malformed();
        }
        if (begin == SLASHES.length()) {
            return new Authority(null, null, servers);
        }
        String credentials = rest.substring(SLASHES.length(), begin - 1);
        int colon = credentials.indexOf(':');
        return new Authority(
                decoded(colon < 0 ? credentials : credentials.substring(0, colon)),
                colon < 0 ? null : decoded(credentials.substring(colon + 1)),
                servers);
    }

    /**
     * The part after the slash behind the servers, not decoded; empty for none.
     *
     * @throws IllegalArgumentException if the URI does not begin with two slashes
     */
    public String path() {
        String rest = uri.rest();
        int end = endOfServers(beginOfServers());
        return end == rest.length() ? "" : rest.substring(end + 1);
    }

    /** The part after the last at sign, since a password may contain one too. */
    private int beginOfServers() {
        String rest = uri.rest();
        if (!rest.startsWith(SLASHES)) {
            throw malformed();
        }
        return Math.max(SLASHES.length(), rest.lastIndexOf('@') + 1);
    }

    private int endOfServers(int begin) {
        int slash = uri.rest().indexOf('/', begin);
        return slash < 0 ? uri.rest().length() : slash;
    }

    /**
     * Reads a server as {@link Server#parse} does.
     *
     * @throws IllegalArgumentException if it is not of the form
     */
    public Server server(String text, int port) {
        return Server.parse(text, port).orElseThrow(this::malformed);
    }

    /** Parses a number; empty if the text is not a number in the range. */
    public static OptionalInt number(String text, int least, int most) {
        try {
            int number = Integer.parseInt(text);
            return number >= least && number <= most ? OptionalInt.of(number) : OptionalInt.empty();
        } catch (NumberFormatException e) {
            return OptionalInt.empty();
        }
    }

    /**
     * Decodes a part.
     *
     * @throws IllegalArgumentException if it is not percent-encoded
     */
    public String decoded(String text) {
        try {
            return URLDecoder.decode(text.replace("+", "%2B"), StandardCharsets.UTF_8);
        } catch (IllegalArgumentException e) {
            // Without its cause, whose text repeats a part of the password.
            throw new IllegalArgumentException("Each '%' in the URI of " + store
                    + " must begin a percent-encoded character; write '%25' for a literal '%': " + uri);
        }
    }

    /** Null if it is not given. */
    public @Nullable String parameter(String name) {
        return uri.parameters().get(name);
    }

    /** Uses a parameter if it is given. */
    public void given(String name, Consumer<String> use) {
        String value = parameter(name);
        if (value != null) {
            use.accept(value);
        }
    }

    /**
     * Uses two parameters if they are given.
     *
     * @throws IllegalArgumentException if only one of them is
     */
    public void given(String name, String other, BiConsumer<String, String> use) {
        String value = parameter(name);
        String otherValue = parameter(other);
        if (value != null && otherValue != null) {
            use.accept(value, otherValue);
        } else if (value != null || otherValue != null) {
            throw wrong(value == null ? other : name, "requires '" + (value == null ? name : other) + "' as well");
        }
    }

    /**
     * Reads a parameter's value.
     *
     * @throws IllegalArgumentException if the text is not an ISO 8601 duration
     */
    public Duration duration(String name, String text) {
        try {
            return Duration.parse(text);
        } catch (DateTimeParseException e) {
            throw wrong(name, "must be a duration such as PT5S");
        }
    }

    /**
     * The failure of a parameter.
     *
     * @param how a predicate whose subject is the parameter, without secrets
     */
    public IllegalArgumentException wrong(String name, String how) {
        return new IllegalArgumentException("The parameter '" + name + "' of " + store + " " + how + ": " + uri);
    }

    /** The failure of a URI that is not of the form. */
    public IllegalArgumentException malformed() {
        String begin = Character.toUpperCase(store.charAt(0)) + store.substring(1);
        return new IllegalArgumentException(
                begin + " must have the form " + uri.scheme() + ":" + form + ", not " + uri);
    }
}
