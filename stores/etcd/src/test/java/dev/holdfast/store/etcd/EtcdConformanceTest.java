package dev.holdfast.store.etcd;

import dev.holdfast.servers.NeedsEtcd;
import dev.holdfast.testkit.LockStoreConformance;
import dev.holdfast.testkit.StoreUnderTest;
import org.junit.jupiter.api.Tag;

/** The rules of every store. */
@Tag("server")
@NeedsEtcd
class EtcdConformanceTest extends LockStoreConformance {

    @Override
    protected StoreUnderTest open() {
        return new EtcdUnderTest();
    }
}
