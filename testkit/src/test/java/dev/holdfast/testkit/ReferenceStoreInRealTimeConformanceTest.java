package dev.holdfast.testkit;

import dev.holdfast.spi.LockStore;
import dev.holdfast.store.memory.ReferenceStore;
import java.time.Duration;

/** The kit as real stores run it: nobody moves the clock, and short things end by themselves. */
class ReferenceStoreInRealTimeConformanceTest extends LockStoreConformance {

    @Override
    protected StoreUnderTest open() {
        ReferenceStore first = new ReferenceStore();
        ReferenceStore second = first.connect();
        return new StoreUnderTest() {
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
                return Duration.ofMillis(400);
            }

            @Override
            public void close() {
                first.close();
                second.close();
            }
        };
    }
}
