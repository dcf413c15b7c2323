package dev.holdfast.store.etcd;

import dev.holdfast.store.register.RecordVersion;
import java.nio.ByteBuffer;

/**
 * Codec of the values of mailboxes: the incarnation of the record that was written with the mail, eight octets, and the
 * mail. The revision of the mailbox is that of the record too.
 */
final class MailValue {

    /** Replaces the incarnation of a record that was created with the mail. */
    static final long MADE_WITH_IT = 0;

    /** Replaces the incarnation of a record that was deleted with it. */
    static final long DELETED = -1;

    private MailValue() {}

    static byte[] encoded(long incarnation, byte[] mail) {
        return ByteBuffer.allocate(Long.BYTES + mail.length)
                .putLong(incarnation)
                .put(mail)
                .array();
    }

    /** The mail; empty if the value is not one of Holdfast. */
    static byte[] mail(byte[] value) {
        ByteBuffer rest = ByteBuffer.wrap(value);
        byte[] mail = new byte[Math.max(0, value.length - Long.BYTES)];
        rest.position(value.length - mail.length).get(mail);
        return mail;
    }

    /** The version of the record that was written with the mail, in this revision. */
    static RecordVersion record(byte[] value, long revision) {
        return value.length < Long.BYTES
                ? WriteTransaction.MISSING
                : version(ByteBuffer.wrap(value).getLong(), revision);
    }

    static RecordVersion version(long incarnation, long revision) {
        if (incarnation == DELETED) {
            return WriteTransaction.MISSING;
        }
        return new RecordVersion(incarnation == MADE_WITH_IT ? revision : incarnation, revision);
    }
}
