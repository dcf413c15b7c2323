package dev.holdfast.store.etcd.rpc;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import java.util.Arrays;

/**
 * Writes one message of Protocol Buffers, field by field; fields with the default value are left out.
 *
 * <p>The two dozen messages that are needed of etcd are written by hand. The library comes as two artifacts with the
 * same classes, of which a program may have but one, and a store must not choose for it.
 */
final class MessageWriter {

    private static final int VARINT = 0;
    private static final int LENGTH_DELIMITED = 2;

    /** Enough for most of the messages that a transaction is made of. */
    private static final int USUAL_BYTES = 128;

    private byte[] bytes = new byte[USUAL_BYTES];
    private int size;

    @CanIgnoreReturnValue
    MessageWriter number(int field, long value) {
        if (value != 0) {
            tag(field, VARINT);
            varint(value);
        }
        return this;
    }

    @CanIgnoreReturnValue
    MessageWriter flag(int field, boolean value) {
        return number(field, value ? 1 : 0);
    }

    @CanIgnoreReturnValue
    MessageWriter bytes(int field, byte[] value) {
        return value.length == 0 ? this : present(field, value);
    }

    /** A message, also one without fields: that it is there says something. */
    @CanIgnoreReturnValue
    MessageWriter message(int field, MessageWriter value) {
        return present(field, value.bytes, value.size);
    }

    /** A field that has a presence of its own, such as one of a union, which counts also if it is empty or 0. */
    @CanIgnoreReturnValue
    MessageWriter present(int field, byte[] value) {
        return present(field, value, value.length);
    }

    private MessageWriter present(int field, byte[] value, int length) {
        tag(field, LENGTH_DELIMITED);
        varint(length);
        makeRoom(length);
        System.arraycopy(value, 0, bytes, size, length);
        size += length;
        return this;
    }

    @CanIgnoreReturnValue
    MessageWriter present(int field, long value) {
        tag(field, VARINT);
        varint(value);
        return this;
    }

    byte[] toBytes() {
        return Arrays.copyOf(bytes, size);
    }

    private void tag(int field, int type) {
        varint(((long) field << 3) | type);
    }

    private void varint(long value) {
        long left = value;
        while ((left & ~0x7fL) != 0) {
            octet((int) ((left & 0x7f) | 0x80));
            left >>>= 7;
        }
        octet((int) left);
    }

    private void octet(int value) {
        makeRoom(1);
        bytes[size++] = (byte) value;
    }

    private void makeRoom(int more) {
        if (more > bytes.length - size) {
            bytes = Arrays.copyOf(bytes, Math.max(2 * bytes.length, size + more));
        }
    }
}
