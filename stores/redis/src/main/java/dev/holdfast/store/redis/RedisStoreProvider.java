package dev.holdfast.store.redis;

import dev.holdfast.spi.LockStore;
import dev.holdfast.spi.StoreProvider;
import dev.holdfast.spi.StoreUri;
import io.lettuce.core.RedisURI;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.format.DateTimeParseException;
import java.util.Map;
import java.util.Set;

/**
 * Opens {@code redis://[[user]:password@]host[:port][/database]}, with the parameters {@code namespace} and {@code timeout}, the latter in the form of
 * {@code PT5S}. User and password are percent-encoded. An address of IPv6 stands in brackets.
 */
public final class RedisStoreProvider implements StoreProvider {

    private static final String NAMESPACE = "namespace";
    private static final String TIMEOUT = "timeout";
    private static final int PORT = 6379;

    /** For {@link java.util.ServiceLoader}. */
    public RedisStoreProvider() {}

    @Override
    public Set<String> schemes() {
        return Set.of("redis");
    }

    @Override
    public LockStore open(StoreUri uri) {
        return builder(uri).open();
    }

    static RedisStore.Builder builder(StoreUri uri) {
        uri.allowOnly(Set.of(NAMESPACE, TIMEOUT));
        RedisStore.Builder builder = RedisStore.builder(server(uri));
        Map<String, String> parameters = uri.parameters();
        if (parameters.containsKey(NAMESPACE)) {
            builder.namespace(parameters.get(NAMESPACE));
        }
        if (parameters.containsKey(TIMEOUT)) {
            try {
                builder.commandTimeout(Duration.parse(parameters.get(TIMEOUT)));
            } catch (DateTimeParseException e) {
                throw new IllegalArgumentException(
                        "The parameter 'timeout' of a Redis store has the form PT5S: " + uri, e);
            }
        }
        return builder;
    }

    static RedisURI server(StoreUri uri) {
        String rest = uri.rest();
        if (!rest.startsWith("//")) {
            throw malformed(uri);
        }
        int at = rest.lastIndexOf('@');
        int slash = rest.indexOf('/', Math.max(2, at));
        String place = rest.substring(at < 0 ? 2 : at + 1, slash < 0 ? rest.length() : slash);
        int colon = place.endsWith("]") ? -1 : place.lastIndexOf(':');
        String host = colon < 0 ? place : place.substring(0, colon);
        if (host.startsWith("[") && host.endsWith("]")) {
            host = host.substring(1, host.length() - 1);
        } else if (host.indexOf(':') >= 0) {
            throw malformed(uri);
        }
        if (host.isEmpty()) {
            throw malformed(uri);
        }
        RedisURI.Builder server = RedisURI.builder()
                .withHost(host)
                .withPort(colon < 0 ? PORT : number(place.substring(colon + 1), 1, 65_535, uri))
                .withDatabase(
                        slash < 0 || slash + 1 == rest.length()
                                ? 0
                                : number(rest.substring(slash + 1), 0, 99_999, uri));
        return at < 0
                ? server.build()
                : authenticated(server, rest.substring(2, at), uri).build();
    }

    private static RedisURI.Builder authenticated(RedisURI.Builder server, String userInfo, StoreUri uri) {
        int colon = userInfo.indexOf(':');
        if (colon < 0) {
            throw new IllegalArgumentException(
                    "Before the '@' of a Redis store stand user and password, with a colon between them: " + uri);
        }
        String user = decoded(userInfo.substring(0, colon), uri);
        char[] password = decoded(userInfo.substring(colon + 1), uri).toCharArray();
        return user.isEmpty() ? server.withPassword(password) : server.withAuthentication(user, password);
    }

    private static String decoded(String text, StoreUri uri) {
        try {
            return URLDecoder.decode(text.replace("+", "%2B"), StandardCharsets.UTF_8);
        } catch (IllegalArgumentException e) {
            // Without its cause, whose text repeats a part of the password.
            throw new IllegalArgumentException("User and password of a Redis store are percent-encoded: " + uri);
        }
    }

    private static int number(String text, int least, int most, StoreUri uri) {
        try {
            int number = Integer.parseInt(text);
            if (number >= least && number <= most) {
                return number;
            }
        } catch (NumberFormatException e) {
            // Told below, with what is right.
        }
        throw malformed(uri);
    }

    private static IllegalArgumentException malformed(StoreUri uri) {
        return new IllegalArgumentException(
                "A Redis store has the form redis://[[user]:password@]host[:port][/database], unlike " + uri);
    }
}
