package dev.holdfast.store.register;

import dev.holdfast.spi.ClaimRef;

/**
 * A change of the index, which lists the claims of each living session.
 *
 * @param claim the claim, of this client or another
 * @param kind the change of its entry
 */
public record IndexChange(ClaimRef claim, Kind kind) {

    /** The state of a claim in its entry. */
    public enum State {
        /** There is no entry. */
        NONE,
        /** The claim waits. */
        WAITING,
        /** The claim holds. */
        HELD
    }

    /** The change of an entry. */
    public enum Kind {
        /** Adds the entry of a waiting claim. */
        QUEUED(State.NONE, State.WAITING),
        /** Adds the entry of a holding claim. */
        GRANTED(State.NONE, State.HELD),
        /** Changes the entry of a waiting claim, which now holds. */
        PROMOTED(State.WAITING, State.HELD),
        /** Changes the entry of a holding claim, which now waits: its lease had expired, and it was requested again. */
        REQUEUED(State.HELD, State.WAITING),
        /** Removes the entry of a waiting claim. */
        WITHDRAWN(State.WAITING, State.NONE),
        /** Removes the entry of a holding claim. */
        RELEASED(State.HELD, State.NONE);

        private final State before;
        private final State after;

        Kind(State before, State after) {
            this.before = before;
            this.after = after;
        }

        /** The state before the write. */
        public State before() {
            return before;
        }

        /** The state after the write. */
        public State after() {
            return after;
        }
    }
}
