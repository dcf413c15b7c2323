package dev.holdfast.testkit;

import dev.holdfast.spi.LockStore;
import dev.holdfast.store.memory.ReferenceStore;
import java.time.Duration;

/** The reference store as real stores are tested: nobody moves the clock, and short things end by themselves. */
final class RealTimeSubject implements StoreUnderTest {

    private final ReferenceStore first = new ReferenceStore();
    private final ReferenceStore second = first.connect();
    private final Duration shortTtl;

    RealTimeSubject(Duration shortTtl) {
        this.shortTtl = shortTtl;
    }

    @Override
    public LockStore first() {
        return first;
    }

    @Override
    public LockStore second() {
        return second;
    }

    @Override
    public Duration shortTtl() {
        return shortTtl;
    }

    @Override
    public void close() {
        first.close();
        second.close();
    }
}
