package dev.holdfast.store.quorum;

import dev.holdfast.testkit.LockStoreConformance;
import dev.holdfast.testkit.StoreUnderTest;
import org.junit.jupiter.api.Tag;

/** The rules of every store, on three real Redis servers, by their own clocks. */
@Tag("server")
class QuorumOfRedisConformanceTest extends LockStoreConformance {

    @Override
    protected StoreUnderTest open() {
        return new QuorumOfRedisUnderTest();
    }
}
