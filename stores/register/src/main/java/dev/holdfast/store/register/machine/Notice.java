package dev.holdfast.store.register.machine;

import dev.holdfast.spi.ClaimRef;

/**
 * A notice to the claimant of what a step did to its claim.
 *
 * @param claim the claim
 * @param kind what happened
 * @param first the first token of its block, relative to the base of the record; 0 unless {@link Kind#GRANTED}
 * @param last the last one
 * @param awaited whether others wait behind it
 */
public record Notice(ClaimRef claim, Kind kind, long first, long last, boolean awaited) {

    /** What happened. */
    public enum Kind {
        /** The claim was granted. */
        GRANTED,
        /** Its state changed, and must be polled. */
        CHANGED,
        /** Its grant was released by force. */
        REVOKED
    }

    static Notice of(ClaimEntry claim, Kind kind) {
        return new Notice(claim.ref, kind, 0, 0, false);
    }
}
