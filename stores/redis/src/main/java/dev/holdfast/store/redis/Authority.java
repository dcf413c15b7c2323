package dev.holdfast.store.redis;

import dev.holdfast.spi.StoreUri;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The part {@code //[[user]:password@]host[:port][,host[:port]…][/database]} of a URI. User and password are
 * percent-encoded; an address of IPv6 stands in brackets.
 *
 * @param user null for the default user
 * @param password null if there is none
 * @param servers at least one
 */
record Authority(@Nullable String user, @Nullable String password, List<Place> servers, int database) {

    private static final int MOST_DATABASES = 99_999;

    /** Where a server listens. */
    record Place(String host, int port) {}

    /**
     * Reads it.
     *
     * @param port for the servers that name none
     * @param form what the URI should have looked like, for people
     * @throws IllegalArgumentException if it is not of the form
     */
    static Authority read(StoreUri uri, int port, String form) {
        String rest = uri.rest();
        if (!rest.startsWith("//")) {
            throw malformed(uri, form);
        }
        int at = rest.lastIndexOf('@');
        int slash = rest.indexOf('/', Math.max(2, at));
        int end = slash < 0 ? rest.length() : slash;
        List<Place> servers = new ArrayList<>();
        for (String place : rest.substring(at < 0 ? 2 : at + 1, end).split(",", -1)) {
            servers.add(place(place, port, uri, form));
        }
        int database = end + 1 >= rest.length() ? 0 : number(rest.substring(end + 1), 0, MOST_DATABASES, uri, form);
        if (at < 0) {
            return new Authority(null, null, servers, database);
        }
        String credentials = rest.substring(2, at);
        int colon = credentials.indexOf(':');
        String user = decoded(colon < 0 ? credentials : credentials.substring(0, colon), uri);
        String password = colon < 0 ? null : decoded(credentials.substring(colon + 1), uri);
        return new Authority(user.isEmpty() ? null : user, password, servers, database);
    }

    private static Place place(String text, int port, StoreUri uri, String form) {
        int colon = text.endsWith("]") ? -1 : text.lastIndexOf(':');
        String host = colon < 0 ? text : text.substring(0, colon);
        if (host.startsWith("[") && host.endsWith("]")) {
            host = host.substring(1, host.length() - 1);
        } else if (host.indexOf(':') >= 0) {
            throw malformed(uri, form);
        }
        if (host.isEmpty()) {
            throw malformed(uri, form);
        }
        return new Place(host, colon < 0 ? port : number(text.substring(colon + 1), 1, 65_535, uri, form));
    }

    private static String decoded(String text, StoreUri uri) {
        try {
            return URLDecoder.decode(text.replace("+", "%2B"), StandardCharsets.UTF_8);
        } catch (IllegalArgumentException e) {
            // Without its cause, whose text repeats a part of the password.
            throw new IllegalArgumentException("User and password of a Redis store are percent-encoded: " + uri);
        }
    }

    private static int number(String text, int least, int most, StoreUri uri, String form) {
        try {
            int number = Integer.parseInt(text);
            if (number >= least && number <= most) {
                return number;
            }
        } catch (NumberFormatException e) {
            // Told below, with what is right.
        }
        throw malformed(uri, form);
    }

    private static IllegalArgumentException malformed(StoreUri uri, String form) {
        return new IllegalArgumentException("A Redis store has the form " + form + ", unlike " + uri);
    }

    /** Without the password. */
    @Override
    public String toString() {
        return "Authority" + servers;
    }
}
