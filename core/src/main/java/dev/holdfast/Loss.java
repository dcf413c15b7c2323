package dev.holdfast;

import java.io.Serializable;

/**
 * The end of a hold that its owner did not request.
 *
 * @param name the resource
 * @param store the store, for people
 * @param token the fencing token of the lost hold; writes with it may now be stale
 * @param cause why
 */
public record Loss(String name, String store, long token, Cause cause) implements Serializable {

    /** Why a hold was lost. */
    public enum Cause {
        /** No keep-alive was acknowledged in time, or the process was paused: the lease may have ended. */
        EXPIRED("its lease expired: no keep-alive was acknowledged in time"),
        /** A fixed lease or a maximum hold time has passed. */
        LEASE_ENDED("its fixed lease expired"),
        /** The store says that the session has ended. */
        SESSION_ENDED("the store ended the session"),
        /** The store no longer has the grant: it was released by force, or its record was removed. */
        REMOVED("it was removed at the store"),
        /** The thread that owned it has died without releasing it. */
        OWNER_DIED("its owner thread died without releasing it"),
        /** The client was closed. */
        CLIENT_CLOSED("the client was closed");

        private final String words;

        Cause(String words) {
            this.words = words;
        }

        /** The cause in words, for messages. */
        public String words() {
            return words;
        }
    }
}
