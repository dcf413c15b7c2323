package dev.holdfast.store.sqlite;

import dev.holdfast.testkit.LockStoreConformance;
import dev.holdfast.testkit.StoreUnderTest;
import java.io.IOException;
import java.util.Optional;

/** The conformance tests on the host's clock, with every commit flushed. */
class SqliteRealTimeConformanceTest extends LockStoreConformance {

    @Override
    protected StoreUnderTest open() throws IOException {
        return new SqliteUnderTest(Optional.empty(), options -> options.synchronous(SqliteStore.Synchronous.FULL));
    }
}
