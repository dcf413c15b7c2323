package dev.holdfast.store.zookeeper.adapter;

import dev.holdfast.spi.StoreException;
import dev.holdfast.spi.StoreException.Effect;
import dev.holdfast.spi.StoreException.Reason;
import dev.holdfast.store.register.RecordVersion;
import dev.holdfast.store.register.SessionRecord;
import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import java.util.function.Function;

/** Codec of the data of nodes. The first byte is the version of the form. */
final class NodeData {

    private static final byte FORM = 1;

    /** The length of the head before the state of a record. */
    private static final int RECORD_HEAD = 1 + Long.BYTES;

    private NodeData() {}

    static byte[] session(long epoch, Duration ttl, String label) {
        byte[] text = label.getBytes(StandardCharsets.UTF_8);
        return ByteBuffer.allocate(1 + 2 * Long.BYTES + text.length)
                .put(FORM)
                .putLong(epoch)
                .putLong(ttl.toMillis())
                .put(text)
                .array();
    }

    static SessionRecord session(String path, byte[] data) {
        return read(path, data, from -> {
            long epoch = from.getLong();
            Duration ttl = Duration.ofMillis(from.getLong());
            return new SessionRecord(epoch, rest(from), ttl);
        });
    }

    static byte[] floor(long token) {
        return ByteBuffer.allocate(1 + Long.BYTES).put(FORM).putLong(token).array();
    }

    static long floor(String path, byte[] data) {
        return read(path, data, ByteBuffer::getLong);
    }

    static byte[] record(long incarnation, byte[] state) {
        return ByteBuffer.allocate(RECORD_HEAD + state.length)
                .put(FORM)
                .putLong(incarnation)
                .put(state)
                .array();
    }

    /**
     * The data of the node of a record.
     *
     * @param incarnation 0 if it is not a record; its state is then all of the data, which can't be decoded either
     */
    @SuppressWarnings("ArrayRecordComponent") // never compared
    record Content(long incarnation, byte[] state) {}

    static Content record(byte[] data) {
        return data.length >= RECORD_HEAD && data[0] == FORM
                ? new Content(ByteBuffer.wrap(data).getLong(1), Arrays.copyOfRange(data, RECORD_HEAD, data.length))
                : new Content(0, data);
    }

    /** Mail, with the version of the record that was written with it. */
    static byte[] mail(RecordVersion record, byte[] mail) {
        return ByteBuffer.allocate(1 + 2 * Long.BYTES + mail.length)
                .put(FORM)
                .putLong(record.incarnation())
                .putLong(record.change())
                .put(mail)
                .array();
    }

    /**
     * A piece of mail.
     *
     * @param record the version of the record that was written with it
     */
    @SuppressWarnings("ArrayRecordComponent") // never compared
    record Mail(RecordVersion record, byte[] content) {}

    static Mail mail(String path, byte[] data) {
        return read(path, data, from -> {
            RecordVersion record = new RecordVersion(from.getLong(), from.getLong());
            byte[] content = new byte[from.remaining()];
            from.get(content);
            return new Mail(record, content);
        });
    }

    private static <T> T read(String path, byte[] data, Function<ByteBuffer, T> form) {
        ByteBuffer from = ByteBuffer.wrap(data);
        try {
            if (from.get() == FORM) {
                return form.apply(from);
            }
        } catch (BufferUnderflowException | IllegalArgumentException e) {
            // Not what this store writes.
        }
        throw new StoreException(
                Reason.CORRUPT,
                Effect.NONE,
                "the node '" + path + "' was not written by this store, or by a newer version: use another root",
                null);
    }

    private static String rest(ByteBuffer from) {
        return StandardCharsets.UTF_8.decode(from).toString();
    }
}
