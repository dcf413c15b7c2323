package dev.holdfast.store.etcd.rpc;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import java.io.ByteArrayOutputStream;

/**
 * Writes one message of Protocol Buffers, field by field; fields with the default value are left out.
 *
 * <p>The two dozen messages that are needed of etcd are written by hand. The library comes as two artifacts with the
 * same classes, of which a program may have but one, and a store must not choose for it.
 */
final class MessageWriter {

    private static final int VARINT = 0;
    private static final int LENGTH_DELIMITED = 2;

    private final ByteArrayOutputStream out = new ByteArrayOutputStream();

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
        return present(field, value.toBytes());
    }

    /** A field that has a presence of its own, such as one of a union, which counts also if it is empty or 0. */
    @CanIgnoreReturnValue
    MessageWriter present(int field, byte[] value) {
        tag(field, LENGTH_DELIMITED);
        varint(value.length);
        out.writeBytes(value);
        return this;
    }

    @CanIgnoreReturnValue
    MessageWriter present(int field, long value) {
        tag(field, VARINT);
        varint(value);
        return this;
    }

    byte[] toBytes() {
        return out.toByteArray();
    }

    private void tag(int field, int type) {
        varint(((long) field << 3) | type);
    }

    private void varint(long value) {
        long left = value;
        while ((left & ~0x7fL) != 0) {
            out.write((int) ((left & 0x7f) | 0x80));
            left >>>= 7;
        }
        out.write((int) left);
    }
}
