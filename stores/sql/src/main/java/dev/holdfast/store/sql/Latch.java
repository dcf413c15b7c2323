package dev.holdfast.store.sql;

/** A latch's row: a hold that nobody owns, and that counting down shrinks. */
final class Latch {

    /** Whether there is a row. */
    boolean isStored;

    /** 0 until it is set for the first time. */
    long generation;

    /** What is left to count; 0 when it is open. */
    long remaining;

    /** When it was changed last, in microseconds since 1970. */
    long changed;
}
