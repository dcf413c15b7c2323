package dev.holdfast.store.jdbc;

import dev.holdfast.servers.PostgresServer;
import dev.holdfast.testkit.LockStoreConformance;
import dev.holdfast.testkit.StoreUnderTest;
import org.junit.jupiter.api.Tag;

/** The conformance tests on a manual clock. */
@Tag("server")
@Tag("postgres")
@Tag("oldest")
class PostgresConformanceTest extends LockStoreConformance {

    @Override
    protected StoreUnderTest open() {
        return new JdbcUnderTest(PostgresServer.shared(), true);
    }
}
