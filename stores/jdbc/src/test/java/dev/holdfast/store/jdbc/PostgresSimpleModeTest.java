package dev.holdfast.store.jdbc;

import dev.holdfast.servers.PostgresServer;
import dev.holdfast.testkit.LockStoreConformance;
import dev.holdfast.testkit.StoreUnderTest;
import org.junit.jupiter.api.Tag;

/** The conformance tests with a driver that sends values as untyped text, as some poolers require. */
@Tag("server")
@Tag("postgres")
class PostgresSimpleModeTest extends LockStoreConformance {

    @Override
    protected StoreUnderTest open() {
        return new JdbcUnderTest(PostgresServer.shared(), true, "&preferQueryMode=simple");
    }
}
