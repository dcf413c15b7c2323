package dev.holdfast;

/** How a release ended. */
public enum ReleaseOutcome {
    /** The hold was good to the end, and the resource is free or has its next owner. */
    RELEASED,
    /** An inner acquisition was released; its thread still holds the resource. */
    STILL_HELD,
    /** The hold was lost before its release: another may have held the resource in the meantime. */
    LOST,
    /**
     * The hold was good to the end, but the store has not confirmed the release. It is retried in the background, and
     * the lease ends the hold at the latest.
     */
    UNCONFIRMED
}
