package dev.holdfast.spi;

/** Why a claim was not made. */
public enum Refusal {
    /** Others hold the resource or stand before the claim, and it did not want to wait. */
    TAKEN,
    /** The resource is in use as something else: another kind, capacity or order. */
    MISMATCH,
    /** The weight is above the current capacity, so it could never be admitted. */
    TOO_HEAVY,
    /** The store has no room: a limit on names, waiters or tokens was reached. */
    EXHAUSTED
}
