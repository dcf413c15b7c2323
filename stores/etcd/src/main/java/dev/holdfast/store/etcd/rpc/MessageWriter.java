package dev.holdfast.store.etcd.rpc;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import java.util.Arrays;

/**
 * Writes one message of Protocol Buffers, field by field; it leaves out default values.
 *
 * <p>The two dozen messages of etcd in use are encoded by hand. The Protocol Buffers library has two artifacts with the
 * same classes. A program can have only one of them, and a store must not choose for it.
 */
final class MessageWriter {

    private static final int VARINT = 0;
    private static final int LENGTH_DELIMITED = 2;

    /** Enough for most parts of a transaction. */
    private static final int INITIAL_BYTES = 128;

    private byte[] bytes = new byte[INITIAL_BYTES];
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

    /** Writes a message even without fields, since its presence has a meaning. */
    @CanIgnoreReturnValue
    MessageWriter message(int field, MessageWriter value) {
        return present(field, value.bytes, value.size);
    }

    /** Writes a field even if it is empty or 0, because its presence counts, as in a {@code oneof}. */
    @CanIgnoreReturnValue
    MessageWriter present(int field, byte[] value) {
        return present(field, value, value.length);
    }

    private MessageWriter present(int field, byte[] value, int length) {
        tag(field, LENGTH_DELIMITED);
        varint(length);
        ensureCapacity(length);
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
        long rest = value;
        while ((rest & ~0x7fL) != 0) {
            writeByte((int) ((rest & 0x7f) | 0x80));
            rest >>>= 7;
        }
        writeByte((int) rest);
    }

    private void writeByte(int value) {
        ensureCapacity(1);
        bytes[size++] = (byte) value;
    }

    private void ensureCapacity(int more) {
        if (more > bytes.length - size) {
            bytes = Arrays.copyOf(bytes, Math.max(2 * bytes.length, size + more));
        }
    }
}
