package dev.holdfast.store.jdbc;

import java.util.Arrays;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * The cost of an executed statement, according to the server.
 *
 * @param rows how many table rows it has read
 * @param scanned the tables that it has scanned without an index; none if unknown
 * @param estimate the server's cost estimate; 0 if unknown
 * @param isCompiled whether the server has JIT-compiled it
 * @param plan its plan; empty if unknown
 */
record StatementCost(String text, long rows, List<String> scanned, double estimate, boolean isCompiled, String plan) {

    private static final int SHOWN = 3_000;

    StatementCost {
        text = inOneLine(text);
    }

    /** Whether it is this text, with values or parameter names in place of its question marks. */
    boolean isOf(String prepared) {
        String pattern = Arrays.stream(inOneLine(prepared).split("\\?", -1))
                .map(Pattern::quote)
                .collect(Collectors.joining(".*?"));
        return Pattern.compile(pattern, Pattern.DOTALL).matcher(text).matches();
    }

    /** Removes line breaks and the schema before table names. */
    private static String inOneLine(String text) {
        return text.replaceAll("\\s+", " ")
                .replaceAll("([\"`])\\w+\\1\\.(?=holdfast_)", "")
                .trim();
    }

    @Override
    public String toString() {
        String all =
                rows + " rows read, scans of " + scanned + ", estimated at " + estimate + ": " + text + "\n" + plan;
        return all.substring(0, Math.min(all.length(), SHOWN));
    }
}
