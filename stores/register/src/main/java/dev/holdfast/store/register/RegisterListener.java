package dev.holdfast.store.register;

import dev.holdfast.spi.SessionId;

/**
 * A listener for what a server pushes. Each call is a hint: it may be missing or late, and a read decides. Called on a
 * thread of the adapter, and returns quickly.
 */
public interface RegisterListener {

    /** Tells mail that was put into the mailbox of a session of this client. */
    void delivered(SessionId session, byte[] mail);

    /** Tells that a session has ended. An ended session never lives again, so this needs no check. */
    void gone(SessionId session);

    /** Tells that watches were interrupted and stand again: mail and ends may have been missed. */
    void resubscribed();
}
