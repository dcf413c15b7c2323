package dev.holdfast.store.register.machine;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;

/** Reads what an {@link Output} wrote, and throws {@link Malformed} on anything else. */
final class Input {

    /** The input is not what an output writes. */
    static final class Malformed extends Exception {
        private static final long serialVersionUID = 1L;

        Malformed(String message) {
            super(message);
        }
    }

    private final byte[] bytes;
    private int at;

    Input(byte[] bytes) {
        this.bytes = bytes;
    }

    int octet() throws Malformed {
        if (at == bytes.length) {
            throw new Malformed("it ends after " + at + " bytes, in the middle of a value");
        }
        return bytes[at++] & 0xff;
    }

    long number() throws Malformed {
        long value = 0;
        for (int shift = 0; shift < Long.SIZE; shift += 7) {
            int octet = octet();
            value |= (octet & 0x7fL) << shift;
            if (octet < 0x80) {
                return value;
            }
        }
        throw new Malformed("a number before byte " + at + " has more than 64 bits");
    }

    /** Reads a number within bounds, such as an index or a count. */
    int number(int least, int most) throws Malformed {
        long value = number();
        if (value < least || value > most) {
            throw new Malformed("a number before byte " + at + " is " + value + ", not " + least + " to " + most);
        }
        return (int) value;
    }

    /** Reads seconds and nanoseconds. */
    Duration duration() throws Malformed {
        return Duration.ofSeconds(number(), number(0, 999_999_999));
    }

    String text() throws Malformed {
        int from = begin();
        return new String(bytes, from, at - from, StandardCharsets.UTF_8);
    }

    byte[] octets() throws Malformed {
        return Arrays.copyOfRange(bytes, begin(), at);
    }

    /** Skips a value that begins with its length, and returns where it begins. */
    private int begin() throws Malformed {
        int length = number(0, bytes.length);
        if (length > bytes.length - at) {
            throw new Malformed("it ends before byte " + ((long) at + length) + ", in the middle of a value");
        }
        at += length;
        return at - length;
    }

    void end() throws Malformed {
        if (at != bytes.length) {
            throw new Malformed(bytes.length - at + " bytes remain after the end");
        }
    }
}
