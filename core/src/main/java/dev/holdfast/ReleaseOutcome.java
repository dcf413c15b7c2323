package dev.holdfast;

/** How a release ended. */
public enum ReleaseOutcome {
    /** The hold was good to the end, and the resource is free or has its next owner. */
    RELEASED,
    /** An inner acquisition was released; its thread still holds the resource. */
    STILL_HELD,
    /** The hold had been lost before: another may have held the resource meanwhile. */
    LOST,
    /**
     * The hold was good to the end, but the store has not confirmed the release, which is repeated in the background,
     * and the lease ends the hold at the latest.
     */
    UNCONFIRMED
}
