package dev.holdfast.store.ledger;

/** The clock of a store. Read anew for each transaction, once it has its locks. */
public interface StoreClock {

    /** What deadlines are counted in: microseconds that go on steadily, whatever becomes of the wall clock. */
    long nowMicros();

    /** What tokens follow: microseconds since 1970. */
    long unixMicros();
}
