package dev.holdfast.spi;

import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;

/**
 * Where a store is: {@code scheme:rest?name=value&name=value}. Less strict than {@link java.net.URI}, since a file
 * path may hold blanks and a quorum nests URIs. {@link #toString()} never shows credentials: it hides the part
 * before an at sign, except in a path, and the values of parameters with names of secrets.
 *
 * @param scheme the part before the first colon, in lower case
 * @param rest what follows the colon, up to the query; not decoded
 * @param parameters the query, decoded, in the order in which it was given
 */
public record StoreUri(String scheme, String rest, Map<String, String> parameters) {

    /** Keeps the order of the parameters and copies them. */
    public StoreUri {
        parameters = Collections.unmodifiableMap(new LinkedHashMap<>(parameters));
    }

    /**
     * Parses a URI.
     *
     * @throws IllegalArgumentException if there is no scheme, or a parameter is malformed or given twice
     */
    public static StoreUri parse(String uri) {
        int colon = uri.indexOf(':');
        if (colon <= 0 || !isScheme(uri.substring(0, colon))) {
            throw new IllegalArgumentException("A store URI must begin with a scheme and a colon, such as 'sqlite:' or "
                    + "'memory:', but this one does not: '" + Masking.masked(uri) + "'");
        }
        String scheme = uri.substring(0, colon).toLowerCase(Locale.ROOT);
        // The members of a nested URI keep their own queries: only the part after the closing parenthesis belongs to
        // this URI.
        int query = uri.indexOf('?', uri.startsWith("(", colon + 1) ? Math.max(colon, uri.lastIndexOf(')')) : colon);
        String rest = uri.substring(colon + 1, query < 0 ? uri.length() : query);
        Map<String, String> parameters = new LinkedHashMap<>();
        if (query >= 0 && query + 1 < uri.length()) {
            for (String pair : uri.substring(query + 1).split("&", -1)) {
                int equals = pair.indexOf('=');
                if (equals <= 0) {
                    throw new IllegalArgumentException(
                            "A parameter of a store URI must have the form name=value: " + Masking.masked(uri));
                }
                String name = decode(pair.substring(0, equals), uri);
                if (parameters.put(name, decode(pair.substring(equals + 1), uri)) != null) {
                    throw new IllegalArgumentException(
                            "The parameter '" + name + "' is set twice: " + Masking.masked(uri));
                }
            }
        }
        return new StoreUri(scheme, rest, parameters);
    }

    /**
     * Rejects parameters that are not in the list, so that a mistyped one is never silently ignored.
     *
     * @throws IllegalArgumentException if there is another one; the message names the known ones
     */
    public void allowOnly(Set<String> known) {
        for (String name : parameters.keySet()) {
            if (!known.contains(name)) {
                throw new IllegalArgumentException("The store URI " + this + " has the unknown parameter '" + name
                        + "'; the known parameters are " + new TreeSet<>(known));
            }
        }
    }

    @Override
    public String toString() {
        return Masking.masked(scheme + ":" + rest) + Masking.masked(parameters);
    }

    /**
     * A letter, then letters, digits, plus, dot and minus. Written by hand, since the first regular expression of a JVM
     * is slow.
     */
    private static boolean isScheme(String text) {
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            boolean isLetter = (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
            boolean isOther = (c >= '0' && c <= '9') || c == '+' || c == '.' || c == '-';
            if (!isLetter && (i == 0 || !isOther)) {
                return false;
            }
        }
        return true;
    }

    private static String decode(String text, String uri) {
        try {
            return URLDecoder.decode(text.replace("+", "%2B"), StandardCharsets.UTF_8);
        } catch (IllegalArgumentException e) {
            // Without its cause, whose text repeats a part of the parameter.
            throw new IllegalArgumentException(
                    "A parameter of the store URI is not correctly percent-encoded: " + Masking.masked(uri));
        }
    }
}
