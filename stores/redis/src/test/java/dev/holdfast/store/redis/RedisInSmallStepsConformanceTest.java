package dev.holdfast.store.redis;

import dev.holdfast.testkit.LockStoreConformance;
import dev.holdfast.testkit.StoreUnderTest;

/** The rules of every store, with what is ended in parts of one claim. */
class RedisInSmallStepsConformanceTest extends LockStoreConformance {

    @Override
    protected StoreUnderTest open() {
        return RedisUnderTest.inSmallSteps();
    }
}
