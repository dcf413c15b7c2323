package dev.holdfast.store.etcd.rpc;

import java.util.Arrays;

/**
 * A range of keys.
 *
 * @param end the first key after the range; empty for a range of one key
 * @param limit the most keys to read; 0 for all
 */
@SuppressWarnings("ArrayRecordComponent") // wire format; never compared
public record Range(byte[] start, byte[] end, long limit) {

    /** One key. */
    public static Range of(byte[] key) {
        return new Range(key, new byte[0], 0);
    }

    /** All keys with a prefix. */
    public static Range withPrefix(byte[] prefix) {
        return new Range(prefix, after(prefix), 0);
    }

    /** The part of this range after a key. */
    public Range startingAfter(byte[] key) {
        return new Range(Arrays.copyOf(key, key.length + 1), end, limit);
    }

    /** The first keys of this range. */
    public Range first(long count) {
        return new Range(start, end, count);
    }

    /** The first key after all keys with a prefix. */
    private static byte[] after(byte[] prefix) {
        for (int i = prefix.length - 1; i >= 0; i--) {
            if (prefix[i] != (byte) 0xff) {
                byte[] end = Arrays.copyOf(prefix, i + 1);
                end[i]++;
                return end;
            }
        }
        return new byte[1]; // all keys
    }

    MessageWriter message() {
        return new MessageWriter().bytes(1, start).bytes(2, end).number(3, limit);
    }
}
