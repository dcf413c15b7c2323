package dev.holdfast.store.sqlite;

import dev.holdfast.spi.support.Micros;
import dev.holdfast.store.ledger.StoreClock;
import dev.holdfast.testkit.StoreUnderTest.ManualClock;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;

/** A manual clock of both kinds. */
final class ManualTime implements StoreClock, ManualClock {

    private static final long NOON = 1_750_000_000_000_000L;

    private final AtomicLong now = new AtomicLong(1_000_000_000);
    private final AtomicLong unix = new AtomicLong(NOON);

    @Override
    public long nowMicros() {
        return now.get();
    }

    @Override
    public long unixMicros() {
        return unix.get();
    }

    @Override
    public void advance(Duration by) {
        now.addAndGet(Micros.of(by));
        unix.addAndGet(Micros.of(by));
    }

    /** Sets only the monotonic clock, as a reboot does. */
    void stepMonotonic(Duration by) {
        now.addAndGet(Micros.of(by));
    }

    /** Sets only the wall clock. */
    void stepWall(Duration by) {
        unix.addAndGet(Micros.of(by));
    }
}
