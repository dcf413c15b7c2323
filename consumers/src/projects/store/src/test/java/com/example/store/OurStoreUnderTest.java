package com.example.store;

import dev.holdfast.spi.LockStore;
import dev.holdfast.testkit.StoreUnderTest;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;

final class OurStoreUnderTest implements StoreUnderTest {

    private final AtomicLong micros = new AtomicLong(1_750_000_000_000_000L);
    private final OurStore first = new OurStore(micros::get);
    private final OurStore second = first.connect();

    @Override
    public LockStore first() {
        return first;
    }

    @Override
    public LockStore second() {
        return second;
    }

    @Override
    public Optional<ManualClock> clock() {
        return Optional.of(by -> micros.addAndGet(by.toNanos() / 1_000));
    }

    /** Few: it is the kit that is tried here, not the store. */
    @Override
    public int randomRuns() {
        return 5;
    }

    @Override
    public void close() {
        first.close();
        second.close();
    }
}
