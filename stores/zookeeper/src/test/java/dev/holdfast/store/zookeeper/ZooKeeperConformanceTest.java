package dev.holdfast.store.zookeeper;

import dev.holdfast.testkit.LockStoreConformance;
import dev.holdfast.testkit.StoreUnderTest;
import org.junit.jupiter.api.Tag;

/** The rules of every store, on a server. */
@Tag("server")
class ZooKeeperConformanceTest extends LockStoreConformance {

    @Override
    protected StoreUnderTest open() {
        return new ZooKeeperUnderTest();
    }
}
