package dev.holdfast.store.quorum;

import dev.holdfast.testkit.LockStoreConformance;
import dev.holdfast.testkit.StoreUnderTest;

/** The rules of every store, on five reference stores. */
class QuorumOfFiveConformanceTest extends LockStoreConformance {

    @Override
    protected StoreUnderTest open() {
        return new QuorumUnderTest(5);
    }
}
