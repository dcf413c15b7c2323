package dev.holdfast.store.etcd;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.holdfast.store.register.SessionRecord;
import java.nio.ByteBuffer;
import java.time.Duration;

/** The value of a session's key: the epoch comes first, so that a transaction can compare with it byte by byte. */
final class SessionValue {

    private static final int HEAD = 2 * Long.BYTES;

    private SessionValue() {}

    static byte[] encoded(SessionRecord session) {
        byte[] label = session.label().getBytes(UTF_8);
        return ByteBuffer.allocate(HEAD + label.length)
                .putLong(session.epoch())
                .putLong(session.ttl().toSeconds())
                .put(label)
                .array();
    }

    static SessionRecord decoded(byte[] value) {
        ByteBuffer in = ByteBuffer.wrap(value);
        long epoch = in.getLong();
        Duration ttl = Duration.ofSeconds(in.getLong());
        return new SessionRecord(epoch, new String(value, HEAD, value.length - HEAD, UTF_8), ttl);
    }

    /** A bound above the values of all sessions whose epoch is below this one, compared byte by byte. */
    static byte[] ofEpochBelow(long epoch) {
        return ByteBuffer.allocate(Long.BYTES).putLong(epoch).array();
    }
}
