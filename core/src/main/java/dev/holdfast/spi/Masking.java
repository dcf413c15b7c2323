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

    /** Numbers, durations and switches. */
    private static final Pattern HARMLESS = Pattern.compile("-?[0-9]+[a-z]{0,2}|PT[0-9A-Z.]+|true|false|on|off");

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
        String place = at < from ? text.substring(from, end) : HIDDEN + text.substring(at, end);
        return text.substring(0, from) + place + (query < 0 ? "" : "?" + HIDDEN);
    }

    /** A query. */
    static String masked(Map<String, String> parameters) {
        StringBuilder shown = new StringBuilder();
        for (Map.Entry<String, String> parameter : parameters.entrySet()) {
            String name = parameter.getKey();
            boolean isHarmless = HARMLESS.matcher(parameter.getValue()).matches()
                    && !SECRET.matcher(name.toLowerCase(Locale.ROOT)).find();
            shown.append(shown.isEmpty() ? '?' : '&')
                    .append(name)
                    .append('=')
                    .append(isHarmless ? parameter.getValue() : HIDDEN);
        }
        return shown.toString();
    }
}
