package dev.holdfast.store.register.machine;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/** Writes compact numbers, texts and octets. Not thread-safe. */
final class Output {

    /** Enough for the state of a resource that one client holds. */
    private static final int USUAL_BYTES = 192;

    private byte[] bytes = new byte[USUAL_BYTES];
    private int size;

    void octet(int value) {
        makeRoom(1);
        bytes[size++] = (byte) value;
    }

    /** Writes a number with seven bits an octet, the lowest first: short for small numbers that are not negative. */
    void number(long value) {
        long rest = value;
        while ((rest & ~0x7fL) != 0) {
            octet((int) ((rest & 0x7f) | 0x80));
            rest >>>= 7;
        }
        octet((int) rest);
    }

    void text(String text) {
        octets(text.getBytes(StandardCharsets.UTF_8));
    }

    void octets(byte[] octets) {
        number(octets.length);
        makeRoom(octets.length);
        System.arraycopy(octets, 0, bytes, size, octets.length);
        size += octets.length;
    }

    byte[] toBytes() {
        return Arrays.copyOf(bytes, size);
    }

    private void makeRoom(int more) {
        if (more > bytes.length - size) {
            bytes = Arrays.copyOf(bytes, Math.max(2 * bytes.length, size + more));
        }
    }
}
