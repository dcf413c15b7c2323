package dev.holdfast.cli.console;

/**
 * Makes text from elsewhere (names, labels, messages of a store) safe for a terminal: nothing in it can move the
 * cursor, set colours or the title, reorder text or forge a line.
 *
 * <p>Letters, marks, digits, punctuation, symbols and plain spaces of every script stay; control and format characters,
 * line and paragraph separators, unpaired surrogates and unassigned code points become {@code \n}, {@code \t}, {@code
 * \r}, {@code \}{@code u001b} or {@code \}{@code u{e0001}}. A backslash becomes two, so the result is unambiguous.
 */
public final class Printable {

    private static final int ZERO_WIDTH_JOINER = 0x200D;

    private Printable() {}

    /** The text, escaped. */
    public static String escape(String text) {
        return escape(text, '\\', Integer.MAX_VALUE);
    }

    /** The text, escaped and in single quotes, which are escaped in it. */
    public static String quote(String text) {
        return "'" + escape(text, '\'', Integer.MAX_VALUE) + "'";
    }

    /**
     * The text, escaped and cut to a number of characters, the last of which is then an ellipsis. No escape and no
     * character is cut in two.
     */
    public static String cut(String text, int maxChars) {
        return escape(text, '\\', maxChars);
    }

    /** Whether a code point can be shown as it is. */
    static boolean isPlain(int codePoint) {
        if (codePoint < 0x7f) {
            return codePoint >= ' ';
        }
        return switch (Character.getType(codePoint)) {
            case Character.CONTROL,
                    Character.LINE_SEPARATOR,
                    Character.PARAGRAPH_SEPARATOR,
                    Character.SURROGATE,
                    Character.UNASSIGNED,
                    Character.PRIVATE_USE -> false;
            case Character.SPACE_SEPARATOR -> false; // not the ASCII blank, but easily taken for it
            case Character.FORMAT -> codePoint == ZERO_WIDTH_JOINER; // joins emoji and moves nothing
            default -> true;
        };
    }

    private static String escape(String text, char quote, int maxChars) {
        if (isHarmless(text, quote) && text.length() <= maxChars) {
            return text;
        }
        StringBuilder out = new StringBuilder(text.length() + 16);
        int fits = 0; // where to cut if the rest is too long
        for (int i = 0; i < text.length(); ) {
            int codePoint = text.codePointAt(i);
            i += Character.charCount(codePoint);
            append(out, codePoint, quote);
            if (out.length() < maxChars) {
                fits = out.length();
            } else if (out.length() > maxChars || i < text.length()) {
                out.setLength(fits);
                return out.append('…').toString();
            }
        }
        return out.toString();
    }

    private static boolean isHarmless(String text, char quote) {
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (c < ' ' || c >= 0x7f || c == '\\' || c == quote) {
                return false;
            }
        }
        return true;
    }

    private static void append(StringBuilder out, int codePoint, char quote) {
        switch (codePoint) {
            case '\n' -> out.append("\\n");
            case '\r' -> out.append("\\r");
            case '\t' -> out.append("\\t");
            default -> {
                if (codePoint == '\\' || codePoint == quote) {
                    out.append('\\').append((char) codePoint);
                } else if (isPlain(codePoint)) {
                    out.appendCodePoint(codePoint);
                } else if (codePoint <= 0xffff) {
                    appendUnit(out, (char) codePoint);
                } else {
                    out.append("\\u{").append(Integer.toHexString(codePoint)).append('}');
                }
            }
        }
    }

    /** Four hexadecimal digits after a backslash and a u, as in Java and JSON. */
    static void appendUnit(StringBuilder out, char c) {
        out.append("\\u");
        for (int shift = 12; shift >= 0; shift -= 4) {
            out.append(Character.forDigit(c >> shift & 0xf, 16));
        }
    }
}
