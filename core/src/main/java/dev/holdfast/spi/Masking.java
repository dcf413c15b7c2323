package dev.holdfast.spi;

import java.util.Locale;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Hides what may be credentials in store URIs that are shown to people, also in those that are not well formed: whoever
 * mistypes one must not read the password in a log. In doubt it hides too much.
 */
final class Masking {

    private static final String HIDDEN = "***";

    /** What stands before credentials: a scheme, and slashes if there are any. */
    private static final Pattern START = Pattern.compile("\\s*[A-Za-z][A-Za-z0-9+.-]*:(//)?");

    private static final Pattern NESTED = Pattern.compile("\\s*[A-Za-z][A-Za-z0-9+.-]*:\\(");
    private static final Pattern MEMBER = Pattern.compile(",(?=[A-Za-z][A-Za-z0-9+.-]*:[/(])");

    /** What the names of parameters have in them that are nobody's business. */
    private static final Pattern SECRET = Pattern.compile("pass|pwd|secret|token|key|auth|cred|pin|user");

    private Masking() {}

    /** A URI, or what was taken for one. */
    static String masked(String text) {
        Matcher nested = NESTED.matcher(text);
        if (!nested.lookingAt()) {
            return maskedPlain(text);
        }
        StringBuilder shown = new StringBuilder(nested.group());
        String separator = "";
        for (String member : MEMBER.split(text.substring(nested.end()), -1)) {
            shown.append(separator).append(masked(member));
            separator = ",";
        }
        return shown.toString();
    }

    private static String maskedPlain(String text) {
        Matcher start = START.matcher(text);
        int from = start.lookingAt() ? start.end() : 0;
        int query = text.indexOf('?', from);
        int end = query < 0 ? text.length() : query;
        int at = text.lastIndexOf('@');
        if (at >= end) {
            // A password with a question mark, or a parameter with an at sign: who knows.
            return text.substring(0, from) + HIDDEN;
        }
        String place = at < from || isPath(text.substring(from, at))
                ? text.substring(from, end)
                : HIDDEN + text.substring(at, end);
        return text.substring(0, from) + place + (query < 0 ? "" : "?" + HIDDEN);
    }

    /** An absolute path: there are no credentials in it, and an at sign is a character like any other. */
    private static boolean isPath(String beforeAt) {
        return beforeAt.startsWith("/") && beforeAt.indexOf(':') < 0;
    }

    /** A query. */
    static String masked(Map<String, String> parameters) {
        StringBuilder shown = new StringBuilder();
        for (Map.Entry<String, String> parameter : parameters.entrySet()) {
            String name = parameter.getKey();
            boolean isSecret = SECRET.matcher(name.toLowerCase(Locale.ROOT)).find();
            shown.append(shown.isEmpty() ? '?' : '&')
                    .append(name)
                    .append('=')
                    .append(isSecret ? HIDDEN : parameter.getValue());
        }
        return shown.toString();
    }
}
