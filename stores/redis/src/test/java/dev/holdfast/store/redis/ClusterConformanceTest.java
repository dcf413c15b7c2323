package dev.holdfast.store.redis;

import dev.holdfast.testkit.LockStoreConformance;
import dev.holdfast.testkit.StoreUnderTest;
import org.junit.jupiter.api.Tag;

/** The rules of every store on a cluster, on a clock that the tests move. */
@Tag("server")
class ClusterConformanceTest extends LockStoreConformance {

    @Override
    protected StoreUnderTest open() {
        return ClusterUnderTest.onManualTime();
    }
}
