package dev.holdfast.cli.run;

import dev.holdfast.cli.store.StoreLocation;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The environment of the command: that of this process without what the command must not see, and with variables about
 * the lock.
 */
final class ChildEnvironment {

    static final String NAME = "HOLDFAST_NAME";
    static final String TOKEN = "HOLDFAST_TOKEN";
    static final String OWNER = "HOLDFAST_OWNER";
    static final String DEADLINE = "HOLDFAST_DEADLINE";
    static final String STACK = "HOLDFAST_STACK";

    /** Lists the marks of all enclosing locks, which identify a process that has left its parents. */
    static final String HOLD = "HOLDFAST_HOLD";

    /**
     * The locale before the launcher set another one, with which the JVM reads every argument as UTF-8; "-" if none was
     * set.
     */
    static final String LAUNCHER_LOCALE = "HOLDFAST_LAUNCHER_LC_ALL";

    private static final String UNRESERVED = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~/:";

    private ChildEnvironment() {}

    /**
     * Fills in the environment of a command. Lists of enclosing locks end with this one.
     *
     * @param environment the inherited environment; changed
     * @param mark identifies all processes below the command
     * @param deadlineSeconds Unix time
     */
    static void fill(
            Map<String, String> environment,
            StoreLocation store,
            String mark,
            String name,
            long token,
            String owner,
            long deadlineSeconds) {
        restoreLocale(environment);
        store.showTo(environment);
        String outer = environment.get(STACK);
        String entry = encode(name) + "=" + token;
        environment.put(STACK, outer == null || outer.isEmpty() ? entry : outer + " " + entry);
        environment.put(NAME, name);
        environment.put(TOKEN, Long.toString(token));
        environment.put(OWNER, owner);
        environment.put(DEADLINE, Long.toString(deadlineSeconds));
        String outerMarks = environment.get(HOLD);
        environment.put(HOLD, outerMarks == null || outerMarks.isEmpty() ? mark : outerMarks + "," + mark);
    }

    /** The tokens of the enclosing locks of a name, outermost first. */
    static List<Long> tokensAround(@Nullable String stack, String name) {
        List<Long> tokens = new ArrayList<>();
        String entry = encode(name) + "=";
        for (String each : stack == null ? new String[0] : stack.split(" ", -1)) {
            // Another program may use a variable of that name for something else.
            if (each.startsWith(entry) && each.length() > entry.length() && each.length() - entry.length() < 19) {
                String token = each.substring(entry.length());
                if (token.chars().allMatch(c -> c >= '0' && c <= '9')) {
                    tokens.add(Long.parseLong(token));
                }
            }
        }
        return tokens;
    }

    /** Percent-encodes all but unreserved characters, so that a name has no blank and no equals sign. */
    static String encode(String name) {
        StringBuilder out = new StringBuilder(name.length() + 8);
        for (byte b : name.getBytes(StandardCharsets.UTF_8)) {
            char c = (char) (b & 0xff);
            if (UNRESERVED.indexOf(c) >= 0) {
                out.append(c);
            } else {
                out.append('%').append(hex(c >> 4)).append(hex(c & 0xf));
            }
        }
        return out.toString();
    }

    private static char hex(int digit) {
        return Character.toUpperCase(Character.forDigit(digit, 16));
    }

    private static void restoreLocale(Map<String, String> environment) {
        String locale = environment.remove(LAUNCHER_LOCALE);
        if (locale == null) {
            return;
        }
        if (locale.equals("-")) {
            environment.remove("LC_ALL");
        } else {
            environment.put("LC_ALL", locale);
        }
    }
}
