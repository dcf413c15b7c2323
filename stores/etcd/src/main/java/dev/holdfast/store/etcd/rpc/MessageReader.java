package dev.holdfast.store.etcd.rpc;

import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;

/**
 * Reads one message of Protocol Buffers, field by field. It skips fields that the caller does not read, as those of
 * newer servers.
 */
final class MessageReader {

    private static final int MAX_SHIFT = 63;

    private final ByteBuffer in;
    private int field;
    private int type;
    private boolean isPending;

    MessageReader(byte[] message) {
        this.in = ByteBuffer.wrap(message);
    }

    /** Advances to the next field and returns its number; 0 at the end. */
    int next() {
        if (isPending) {
            skip();
        }
        if (!in.hasRemaining()) {
            return 0;
        }
        long tag = varint();
        field = (int) (tag >>> 3);
        type = (int) (tag & 7);
        isPending = true;
        if (field == 0) {
            throw malformed();
        }
        return field;
    }

    long number() {
        isPending = false;
        if (type != 0) {
            throw malformed();
        }
        return varint();
    }

    boolean flag() {
        return number() != 0;
    }

    byte[] bytes() {
        isPending = false;
        if (type != 2) {
            throw malformed();
        }
        byte[] value = new byte[length()];
        in.get(value);
        return value;
    }

    MessageReader message() {
        return new MessageReader(bytes());
    }

    private void skip() {
        isPending = false;
        switch (type) {
            case 0 -> {
                long unused = varint();
            }
            case 1 -> advance(Long.BYTES);
            case 2 -> advance(length());
            case 5 -> advance(Integer.BYTES);
            default -> throw malformed();
        }
    }

    private void advance(int count) {
        if (count > in.remaining()) {
            throw malformed();
        }
        in.position(in.position() + count);
    }

    private int length() {
        long length = varint();
        if (length < 0 || length > in.remaining()) {
            throw malformed();
        }
        return (int) length;
    }

    private long varint() {
        long value = 0;
        try {
            for (int shift = 0; shift <= MAX_SHIFT; shift += 7) {
                byte part = in.get();
                value |= (long) (part & 0x7f) << shift;
                if (part >= 0) {
                    return value;
                }
            }
        } catch (BufferUnderflowException e) {
            throw malformed();
        }
        throw malformed();
    }

    private IllegalArgumentException malformed() {
        return new IllegalArgumentException("Not a valid etcd message: field " + field + ", type " + type + ", at byte "
                + in.position() + " of " + in.limit());
    }
}
