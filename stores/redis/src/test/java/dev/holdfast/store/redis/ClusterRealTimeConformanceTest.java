package dev.holdfast.store.redis;

import dev.holdfast.testkit.LockStoreConformance;
import dev.holdfast.testkit.StoreUnderTest;
import org.junit.jupiter.api.Tag;

/** The rules of every store on a cluster, by the clocks of its nodes. */
@Tag("server")
class ClusterRealTimeConformanceTest extends LockStoreConformance {

    @Override
    protected StoreUnderTest open() {
        return ClusterUnderTest.inRealTime();
    }
}
