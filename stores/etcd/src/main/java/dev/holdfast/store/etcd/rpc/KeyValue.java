package dev.holdfast.store.etcd.rpc;

import java.nio.charset.StandardCharsets;

/**
 * A key with its value.
 *
 * @param createRevision the revision that created the key
 * @param modRevision the revision that changed it last
 */
@SuppressWarnings("ArrayRecordComponent") // wire format; never compared
public record KeyValue(byte[] key, byte[] value, long createRevision, long modRevision) {

    static KeyValue of(MessageReader message) {
        byte[] key = {};
        byte[] value = {};
        long createRevision = 0;
        long modRevision = 0;
        for (int field = message.next(); field != 0; field = message.next()) {
            switch (field) {
                case 1 -> key = message.bytes();
                case 2 -> createRevision = message.number();
                case 3 -> modRevision = message.number();
                case 5 -> value = message.bytes();
                default -> {}
            }
        }
        return new KeyValue(key, value, createRevision, modRevision);
    }

    /** The key as text. */
    public String name() {
        return new String(key, StandardCharsets.UTF_8);
    }
}
