package dev.holdfast.store.ledger.table;

/** A latch's row: a hold that nobody owns, and that counting down shrinks. */
public final class Latch {

    /** Whether there is a row. */
    public boolean isStored;

    /** 0 until it is set for the first time. */
    public long generation;

    /** What is left to count; 0 when it is open. */
    public long remaining;

    /** When it was changed last, in microseconds since 1970. */
    public long changed;
}
