package dev.holdfast.store.register;

import dev.holdfast.spi.SessionId;

/**
 * A listener for what a server pushes. Each call is a hint: it may be missing or late, and a read decides. Called on a
 * thread of the adapter, and returns quickly.
 */
public interface RegisterListener {

    /**
     * Delivers mail that was put into the mailbox of a session of this client.
     *
     * @param record the version that the write with this mail gave the record, as in {@link WriteResult.Written}. It
     *     means nothing if the mail came with an arrival
     */
    void delivered(SessionId session, byte[] mail, RecordVersion record);

    /** Reports that a session or lease of this client, or a watched one, has ended. It never lives again. */
    void gone(SessionId session);

    /** Reports that mail and ends of sessions may have been missed, and that from now on they are reported again. */
    void resubscribed();
}
