package dev.holdfast.store.jdbc;

import dev.holdfast.servers.PostgresServer;
import dev.holdfast.testkit.LockStoreConformance;
import dev.holdfast.testkit.StoreUnderTest;
import org.junit.jupiter.api.Tag;

/** The rules of every store where the driver sends values as text, without their types, as some poolers need it. */
@Tag("server")
@Tag("postgres")
class PostgresSimpleModeTest extends LockStoreConformance {

    @Override
    protected StoreUnderTest open() {
        return new JdbcUnderTest(PostgresServer.shared(), true, "&preferQueryMode=simple");
    }
}
