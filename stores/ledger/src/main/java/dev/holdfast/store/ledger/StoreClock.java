package dev.holdfast.store.ledger;

/** The clock of a store. Each transaction reads it once, after it has its locks. */
public interface StoreClock {

    /** The clock of deadlines: monotonic microseconds, unaffected by changes to the wall clock. */
    long nowMicros();

    /** The clock that tokens follow: microseconds since 1970. */
    long unixMicros();
}
