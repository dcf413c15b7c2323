package dev.holdfast.spi;

import java.nio.charset.StandardCharsets;
import java.util.Locale;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The name of a resource: 1 to 512 bytes of UTF-8, not blank, compared byte for byte on every store. There is no
 * normalisation: {@code "a"}, {@code "A"} and {@code "a "} are three resources.
 *
 * <p>The natural order is that of the unsigned UTF-8 bytes, which is the order of the code points (and not that of
 * {@link String}).
 */
public record ResourceName(String value) implements Comparable<ResourceName> {

    /** The longest name, in bytes of UTF-8: the shortest limit of an index among the stores, with room for a prefix. */
    public static final int MAX_BYTES = 512;

    /**
     * Checks a name.
     *
     * @throws NullPointerException if the name is null
     * @throws IllegalArgumentException if it is empty, blank, longer than {@value #MAX_BYTES} bytes of UTF-8, or
     *     holds an unpaired surrogate
     */
    public ResourceName {
        Objects.requireNonNull(value, "the name of a lock must not be null");
        if (value.isBlank()) {
            throw new IllegalArgumentException("A lock name must have at least one non-blank character, but "
                    + (value.isEmpty() ? "was empty" : "had only blanks"));
        }
        int bytes = utf8Length(value);
        if (bytes > MAX_BYTES) {
            throw new IllegalArgumentException(
                    "A lock name may have at most " + MAX_BYTES + " bytes of UTF-8, but this one has " + bytes + ": '"
                            + printable(value.substring(0, value.offsetByCodePoints(0, 32))) + "…'");
        }
    }

    /** The bytes that identify the resource; a new array. */
    public byte[] utf8() {
        return value.getBytes(StandardCharsets.UTF_8);
    }

    @Override
    public int compareTo(ResourceName other) {
        String a = value;
        String b = other.value;
        int shared = Math.min(a.length(), b.length());
        for (int i = 0; i < shared; i++) {
            char x = a.charAt(i);
            char y = b.charAt(i);
            if (x != y) {
                // UTF-16 puts surrogates (code points above U+FFFF) before U+E000..U+FFFF; UTF-8 puts them after.
                boolean xHigh = Character.isSurrogate(x);
                boolean yHigh = Character.isSurrogate(y);
                return xHigh == yHigh ? Character.compare(x, y) : xHigh ? 1 : -1;
            }
        }
        return Integer.compare(a.length(), b.length());
    }

    /** The name for people, {@linkplain #printable printable}; its identity is {@link #value()}. */
    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof ResourceName that && value.equals(that.value);
    }

    @Override
    public int hashCode() {
        return value.hashCode();
    }

    @Override
    public String toString() {
        return printable(value);
    }

    /**
     * A text of users for messages and logs. Characters that could forge lines or reorder text (control and format
     * characters, line ends, unpaired surrogates) are replaced by their code points, as in {@code
     * <U+202E>}.
     */
    public static String printable(String text) {
        int i = 0;
        while (i < text.length() && !isUnprintable(text.codePointAt(i))) {
            i = text.offsetByCodePoints(i, 1);
        }
        if (i == text.length()) {
            return text;
        }
        StringBuilder shown = new StringBuilder(text.length() + 16).append(text, 0, i);
        for (; i < text.length(); i = text.offsetByCodePoints(i, 1)) {
            int c = text.codePointAt(i);
            if (isUnprintable(c)) {
                String hex = Integer.toHexString(c).toUpperCase(Locale.ROOT);
                shown.append("<U+")
                        .append("0".repeat(Math.max(0, 4 - hex.length())))
                        .append(hex)
                        .append('>');
            } else {
                shown.appendCodePoint(c);
            }
        }
        return shown.toString();
    }

    private static boolean isUnprintable(int codePoint) {
        return switch (Character.getType(codePoint)) {
            case Character.CONTROL,
                    Character.FORMAT,
                    Character.LINE_SEPARATOR,
                    Character.PARAGRAPH_SEPARATOR,
                    Character.SURROGATE -> true;
            default -> false;
        };
    }

    private static int utf8Length(String text) {
        int bytes = 0;
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (c < 0x80) {
                bytes += 1;
            } else if (c < 0x800) {
                bytes += 2;
            } else if (!Character.isSurrogate(c)) {
                bytes += 3;
            } else if (Character.isHighSurrogate(c)
                    && i + 1 < text.length()
                    && Character.isLowSurrogate(text.charAt(i + 1))) {
                bytes += 4;
                i++;
            } else {
                throw new IllegalArgumentException(
                        "A lock name must be valid Unicode, but this one has an unpaired surrogate at index " + i);
            }
        }
        return bytes;
    }
}
