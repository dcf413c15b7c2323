package dev.holdfast.admin;

import java.time.Duration;
import java.util.Optional;

/**
 * What a client knows of itself at one moment, without asking the store. Numbers are of all its parts, those that
 * elections, barriers and task locks hold and wait for among them. Immutable.
 *
 * @param store what the store is, as errors and log lines name it, and on database servers which schema its tables are
 *     in; of a store that has yet to be opened, what is known of it
 * @param status whether it can hold locks just now
 * @param sinceKeepAlive the time since the newest request was sent by which the store has acknowledged the session; of
 *     several sessions, of a store in partitions, the longest. Empty while there is none
 * @param sessionLeft the time until the holds are lost unless another keep-alive is acknowledged; of several sessions
 *     the shortest. Empty while there is none
 * @param holds how many holds are live
 * @param waiting how many requests wait for a grant
 */
public record ClientState(
        String store,
        Status status,
        Optional<Duration> sinceKeepAlive,
        Optional<Duration> sessionLeft,
        int holds,
        int waiting) {

    /** Whether a client can hold locks. */
    public enum Status {
        /** The store answers, and acknowledges the session. */
        CONNECTED,
        /**
         * The session lives, but the newest request to the store failed or was not answered, or the holds are in doubt
         * until the store was asked.
         */
        TROUBLED,
        /** There is no session, where one is needed: nothing is held, and one is being opened. */
        DISCONNECTED,
        /** The client was closed. */
        CLOSED
    }

    /** Whether the store answers, and acknowledges the session. */
    public boolean isConnected() {
        return status == Status.CONNECTED;
    }
}
