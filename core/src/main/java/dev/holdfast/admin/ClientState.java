package dev.holdfast.admin;

import java.time.Duration;
import java.util.Optional;

/**
 * The state of a client at one moment, as it knows it without the store. The counts include holds and requests of
 * elections, barriers and task locks. Immutable.
 *
 * @param store the store as errors and log lines name it, on database servers with the schema of its tables; for a
 *     store that is not open yet, as far as it is known
 * @param status whether it can hold locks now
 * @param sinceKeepAlive the time since the newest acknowledged keep-alive was sent; of several sessions (on a store
 *     with partitions) the longest. Empty while there is no session
 * @param sessionLeft the time until the holds are lost unless another keep-alive is acknowledged; of several sessions
 *     the shortest. Empty while there is no session
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
        /** The store answers and acknowledges the session. */
        CONNECTED,
        /**
         * The session lives, but the newest request to the store failed or timed out, or the holds are in doubt until
         * the store has answered.
         */
        TROUBLED,
        /** A session is needed and being opened: nothing is held. */
        DISCONNECTED,
        /** The client was closed. */
        CLOSED
    }

    /** Whether the store answers and acknowledges the session. */
    public boolean isConnected() {
        return status == Status.CONNECTED;
    }
}
