package dev.holdfast.store.register.machine;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;

/** An output of compact numbers, texts and octets. Not thread-safe. */
final class Output {

    private final ByteArrayOutputStream bytes = new ByteArrayOutputStream(96);

    void octet(int value) {
        bytes.write(value);
    }

    /** Seven bits to the octet, the lowest first; any value, short ones for small numbers that are not negative. */
    void number(long value) {
        long rest = value;
        while ((rest & ~0x7fL) != 0) {
            bytes.write((int) ((rest & 0x7f) | 0x80));
            rest >>>= 7;
        }
        bytes.write((int) rest);
    }

    void text(String text) {
        octets(text.getBytes(StandardCharsets.UTF_8));
    }

    void octets(byte[] octets) {
        number(octets.length);
        bytes.writeBytes(octets);
    }

    byte[] toBytes() {
        return bytes.toByteArray();
    }
}
