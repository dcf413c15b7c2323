package dev.holdfast.store.register;

import dev.holdfast.spi.ClaimRef;

/**
 * A change of the index, which lists the claims of each session that lives.
 *
 * @param claim the claim, of this client or another
 * @param kind what becomes of its entry
 */
public record IndexChange(ClaimRef claim, Kind kind) {

    /** What an entry says of its claim. */
    public enum State {
        /** There is no entry. */
        NONE,
        /** The claim waits. */
        WAITING,
        /** The claim holds. */
        HELD
    }

    /** What becomes of an entry. */
    public enum Kind {
        /** It is made, of a claim that waits. */
        QUEUED(State.NONE, State.WAITING),
        /** It is made, of a claim that holds. */
        GRANTED(State.NONE, State.HELD),
        /** It is there, and the claim holds from now on. */
        PROMOTED(State.WAITING, State.HELD),
        /** It is there, and the claim waits from now on: its lease was over, and it was asked for again. */
        REQUEUED(State.HELD, State.WAITING),
        /** It is there, and is removed: the claim waited. */
        WITHDRAWN(State.WAITING, State.NONE),
        /** It is there, and is removed: the claim held. */
        RELEASED(State.HELD, State.NONE);

        private final State before;
        private final State after;

        Kind(State before, State after) {
            this.before = before;
            this.after = after;
        }

        /** What the entry said before the write. */
        public State before() {
            return before;
        }

        /** What the entry says after the write. */
        public State after() {
            return after;
        }
    }
}
