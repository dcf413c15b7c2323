package dev.holdfast.store.redis;

import dev.holdfast.testkit.LockStoreConformance;
import dev.holdfast.testkit.StoreUnderTest;
import org.junit.jupiter.api.Tag;

/** The rules of every store, with what is ended in parts of one claim. */
@Tag("server")
class RedisInSmallStepsConformanceTest extends LockStoreConformance {

    @Override
    protected StoreUnderTest open() {
        return RedisUnderTest.inSmallSteps();
    }
}
