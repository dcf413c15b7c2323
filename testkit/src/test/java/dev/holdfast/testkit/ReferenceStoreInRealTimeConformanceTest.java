package dev.holdfast.testkit;

import java.time.Duration;

/** The kit as real stores run it: nobody moves the clock, and short things end by themselves. */
class ReferenceStoreInRealTimeConformanceTest extends LockStoreConformance {

    @Override
    protected StoreUnderTest open() {
        return new RealTimeSubject(Duration.ofMillis(400));
    }
}
