package dev.holdfast.store.redis;

import dev.holdfast.testkit.LockStoreConformance;
import dev.holdfast.testkit.StoreUnderTest;
import org.junit.jupiter.api.Tag;

/** The rules of every store, on a clock that the tests move. */
@Tag("server")
@Tag("oldest")
class RedisConformanceTest extends LockStoreConformance {

    @Override
    protected StoreUnderTest open() {
        return RedisUnderTest.onManualTime();
    }
}
