package dev.holdfast.store.etcd.rpc;

import java.util.Arrays;

/**
 * Some keys that follow each other, read as they are.
 *
 * @param end the first key that does not belong to it; empty for the one key alone
 * @param limit how many are read at most; 0 for all
 */
@SuppressWarnings("ArrayRecordComponent") // bytes as they go over the wire; nobody compares two of these
public record Range(byte[] start, byte[] end, long limit) {

    /** One key. */
    public static Range of(byte[] key) {
        return new Range(key, new byte[0], 0);
    }

    /** All keys that begin so. */
    public static Range withPrefix(byte[] prefix) {
        return new Range(prefix, after(prefix), 0);
    }

    /** Those of this range that come after a key. */
    public Range startingAfter(byte[] key) {
        return new Range(Arrays.copyOf(key, key.length + 1), end, limit);
    }

    /** The first of this range. */
    public Range first(long count) {
        return new Range(start, end, count);
    }

    /** The first key after all those that begin so. */
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
