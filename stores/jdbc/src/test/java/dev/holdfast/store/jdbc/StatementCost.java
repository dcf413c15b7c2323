package dev.holdfast.store.jdbc;

import java.util.Arrays;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * What a server says of a statement that it has carried out.
 *
 * @param rows how many rows of tables it has read
 * @param scanned the tables that it has read from the beginning, without an index; none where the server does not tell
 * @param estimate what it took that to cost before; 0 where the server does not tell
 * @param isCompiled whether it has compiled the statement
 * @param plan how it went about it; empty where the server does not tell
 */
record StatementCost(String text, long rows, List<String> scanned, double estimate, boolean isCompiled, String plan) {

    private static final int SHOWN = 3_000;

    StatementCost {
        text = inOneLine(text);
    }

    /** Whether it is this text, with values or names of values in the places of its question marks. */
    boolean isOf(String prepared) {
        String pattern = Arrays.stream(inOneLine(prepared).split("\\?", -1))
                .map(Pattern::quote)
                .collect(Collectors.joining(".*?"));
        return Pattern.compile(pattern, Pattern.DOTALL).matcher(text).matches();
    }

    /** Without the schema that stands before the names of tables. */
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
