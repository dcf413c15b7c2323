package dev.holdfast.store.register;

import dev.holdfast.spi.ClaimRef;

/**
 * A change of the index, which lists the claims of each session that lives.
 *
 * @param claim the claim, of this client or another
 * @param kind what becomes of its entry
 */
public record IndexChange(ClaimRef claim, Kind kind) {

    /** What becomes of an entry. */
    public enum Kind {
        /** It is made, of a claim that waits. */
        QUEUED,
        /** It is made, of a claim that holds. */
        GRANTED,
        /** It is there, and the claim holds from now on. */
        PROMOTED,
        /** It is there, and the claim waits from now on: its lease was over, and it was asked for again. */
        REQUEUED,
        /** It is there, and is removed. */
        ENDED
    }
}
