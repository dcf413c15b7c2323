package dev.holdfast.spi;

import org.jspecify.annotations.Nullable;

/**
 * One incarnation of a client's session at a store, with an id that the store chose: opaque, never reused, not secret.
 *
 * @param value 1 to 256 printable ASCII characters
 */
public record SessionId(String value) {

    /**
     * Checks an id.
     *
     * @throws IllegalArgumentException if it is empty, too long or holds anything but printable ASCII
     */
    public SessionId {
        if (value.isEmpty() || value.length() > 256 || !isPrintable(value)) {
            throw new IllegalArgumentException("A session id must be 1 to 256 printable ASCII characters");
        }
    }

    /** A loop, since every record and every command names sessions. */
    private static boolean isPrintable(String text) {
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (c <= ' ' || c >= 0x7f) {
                return false;
            }
        }
        return true;
    }

    @Override
    public String toString() {
        return value;
    }

    // Written by hand, as in the other records that are used as keys: the generated method is linked at run time, which
    // takes 20 ms of the start of a command.
    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof SessionId that && value.equals(that.value);
    }

    @Override
    public int hashCode() {
        return value.hashCode();
    }
}
