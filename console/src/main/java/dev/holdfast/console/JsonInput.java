package dev.holdfast.console;

import java.util.LinkedHashMap;
import java.util.Map;

/**
 * Reads the JSON that the page posts: one object whose values are strings. Anything else is refused.
 *
 * <p><b>Thread-safety:</b> {@link #object} may be called from any thread.
 */
public final class JsonInput {

    private final String text;
    private int at;

    private JsonInput(String text) {
        this.text = text;
    }

    /**
     * Reads an object of strings.
     *
     * @throws IllegalArgumentException if the text is anything else
     */
    public static Map<String, String> object(String text) {
        return new JsonInput(text).readObject();
    }

    private Map<String, String> readObject() {
        Map<String, String> fields = new LinkedHashMap<>();
        expect('{');
        if (peek() == '}') {
            at++;
        } else {
            char end;
            do {
                String name = string();
                expect(':');
                if (fields.put(name, string()) != null) {
                    throw refused("a field that occurs once");
                }
                end = next();
            } while (end == ',');
            if (end != '}') {
                throw refused("'}'");
            }
        }
        if (peek() != 0) {
            throw refused("the end");
        }
        return fields;
    }

    private String string() {
        expect('"');
        StringBuilder out = new StringBuilder();
        while (true) {
            char c = raw();
            if (c == '"') {
                return out.toString();
            }
            out.append(c == '\\' ? escaped() : c);
        }
    }

    private char escaped() {
        char c = raw();
        return switch (c) {
            case '"', '\\', '/' -> c;
            case 'b' -> '\b';
            case 'f' -> '\f';
            case 'n' -> '\n';
            case 'r' -> '\r';
            case 't' -> '\t';
            case 'u' -> unit();
            default -> throw refused("an escape of JSON");
        };
    }

    private char unit() {
        int unit = 0;
        for (int i = 0; i < 4; i++) {
            int digit = Character.digit(raw(), 16);
            if (digit < 0) {
                throw refused("four hexadecimal digits");
            }
            unit = unit * 16 + digit;
        }
        return (char) unit;
    }

    private char raw() {
        if (at == text.length()) {
            throw refused("more");
        }
        return text.charAt(at++);
    }

    private char peek() {
        while (at < text.length() && " \t\r\n".indexOf(text.charAt(at)) >= 0) {
            at++;
        }
        return at < text.length() ? text.charAt(at) : 0;
    }

    private char next() {
        char c = peek();
        at++;
        return c;
    }

    private void expect(char wanted) {
        if (next() != wanted) {
            throw refused("'" + wanted + "'");
        }
    }

    private IllegalArgumentException refused(String expected) {
        return new IllegalArgumentException(
                "The body must be a JSON object of strings: expected " + expected + " at character " + at);
    }
}
