package dev.holdfast.store.quorum;

import dev.holdfast.testkit.LockStoreConformance;
import dev.holdfast.testkit.StoreUnderTest;

/** The rules of every store, on three reference stores. */
class QuorumConformanceTest extends LockStoreConformance {

    @Override
    protected StoreUnderTest open() {
        return new QuorumUnderTest(3);
    }
}
