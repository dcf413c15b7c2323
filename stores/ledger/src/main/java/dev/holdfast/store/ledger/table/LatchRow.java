package dev.holdfast.store.ledger.table;

/** The row of a latch. */
public final class LatchRow {

    /** Whether there is a row. */
    public boolean isStored;

    /** 0 until it is set for the first time. */
    public long generation;

    /** The remaining count; 0 when the latch is open. */
    public long remaining;

    /** When it was last changed, in microseconds since 1970. */
    public long changed;
}
