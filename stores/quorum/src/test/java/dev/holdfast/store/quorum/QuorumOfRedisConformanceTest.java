package dev.holdfast.store.quorum;

import dev.holdfast.testkit.LockStoreConformance;
import dev.holdfast.testkit.StoreUnderTest;

/** The rules of every store, on three real Redis servers, by their own clocks. */
class QuorumOfRedisConformanceTest extends LockStoreConformance {

    @Override
    protected StoreUnderTest open() {
        return new QuorumOfRedisUnderTest();
    }
}
