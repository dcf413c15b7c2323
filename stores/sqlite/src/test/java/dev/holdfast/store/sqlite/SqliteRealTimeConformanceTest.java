package dev.holdfast.store.sqlite;

import dev.holdfast.testkit.LockStoreConformance;
import dev.holdfast.testkit.StoreUnderTest;
import java.io.IOException;
import java.util.Optional;

/** The rules of every store, on the clock of the machine, and with every commit flushed. */
class SqliteRealTimeConformanceTest extends LockStoreConformance {

    @Override
    protected StoreUnderTest open() throws IOException {
        return new SqliteUnderTest(Optional.empty(), options -> options.synchronous(SqliteStore.Synchronous.FULL));
    }
}
