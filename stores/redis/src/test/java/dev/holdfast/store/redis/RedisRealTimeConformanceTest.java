package dev.holdfast.store.redis;

import dev.holdfast.testkit.LockStoreConformance;
import dev.holdfast.testkit.StoreUnderTest;
import org.junit.jupiter.api.Tag;

/** The rules of every store, on the clock of the server. */
@Tag("server")
class RedisRealTimeConformanceTest extends LockStoreConformance {

    @Override
    protected StoreUnderTest open() {
        return RedisUnderTest.inRealTime();
    }
}
