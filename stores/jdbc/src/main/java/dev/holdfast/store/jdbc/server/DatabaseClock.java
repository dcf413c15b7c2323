package dev.holdfast.store.jdbc.server;

import dev.holdfast.store.ledger.StoreClock;

/** The time of the database server at the beginning of a transaction. Not thread-safe. */
final class DatabaseClock implements StoreClock {

    private long micros;

    void set(long nowMicros) {
        micros = nowMicros;
    }

    @Override
    public long nowMicros() {
        return micros;
    }

    @Override
    public long unixMicros() {
        return micros;
    }
}
