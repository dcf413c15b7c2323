package dev.holdfast.store.sqlite;

import dev.holdfast.testkit.LockStoreConformance;
import dev.holdfast.testkit.StoreUnderTest;
import java.io.IOException;
import java.util.Optional;

/** The rules of every store, on a clock that the tests move. */
class SqliteConformanceTest extends LockStoreConformance {

    @Override
    protected StoreUnderTest open() throws IOException {
        return new SqliteUnderTest(Optional.of(new ManualTime()), options -> options);
    }
}
