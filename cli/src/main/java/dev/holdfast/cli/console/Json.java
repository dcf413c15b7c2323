package dev.holdfast.cli.console;

import com.google.errorprone.annotations.CanIgnoreReturnValue;

/**
 * Writes JSON for scripts. Strings survive unchanged; what is not plain text is escaped, so that the output is safe on
 * a terminal too. Fencing tokens are strings, since many JSON parsers keep numbers in a double.
 */
public final class Json {

    private final StringBuilder out = new StringBuilder(256);
    private boolean first = true;

    @CanIgnoreReturnValue
    public Json beginObject() {
        return open('{');
    }

    @CanIgnoreReturnValue
    public Json endObject() {
        return close('}');
    }

    @CanIgnoreReturnValue
    public Json beginArray() {
        return open('[');
    }

    @CanIgnoreReturnValue
    public Json endArray() {
        return close(']');
    }

    @CanIgnoreReturnValue
    public Json name(String name) {
        separate();
        string(name);
        out.append(':');
        first = true;
        return this;
    }

    @CanIgnoreReturnValue
    public Json value(String text) {
        separate();
        string(text);
        return this;
    }

    @CanIgnoreReturnValue
    public Json value(long number) {
        separate();
        out.append(number);
        return this;
    }

    @CanIgnoreReturnValue
    public Json field(String name, String text) {
        return name(name).value(text);
    }

    @CanIgnoreReturnValue
    public Json field(String name, long number) {
        return name(name).value(number);
    }

    /** The text written so far. */
    @Override
    public String toString() {
        return out.toString();
    }

    private Json open(char bracket) {
        separate();
        out.append(bracket);
        first = true;
        return this;
    }

    private Json close(char bracket) {
        out.append(bracket);
        first = false;
        return this;
    }

    private void separate() {
        if (!first) {
            out.append(',');
        }
        first = false;
    }

    private void string(String text) {
        out.append('"');
        for (int i = 0; i < text.length(); ) {
            int codePoint = text.codePointAt(i);
            int units = Character.charCount(codePoint);
            if (codePoint == '"' || codePoint == '\\') {
                out.append('\\').append((char) codePoint);
            } else if (Printable.isPlain(codePoint)) {
                out.appendCodePoint(codePoint);
            } else {
                for (int unit = 0; unit < units; unit++) {
                    Printable.appendUnit(out, text.charAt(i + unit));
                }
            }
            i += units;
        }
        out.append('"');
    }
}
