package dev.holdfast.store.sqlite;

import dev.holdfast.testkit.LockStoreConformance;
import dev.holdfast.testkit.StoreUnderTest;
import java.io.IOException;
import java.util.Optional;

/** The conformance tests on a manual clock. */
class SqliteConformanceTest extends LockStoreConformance {

    @Override
    protected StoreUnderTest open() throws IOException {
        return new SqliteUnderTest(Optional.of(new ManualTime()), options -> options);
    }
}
