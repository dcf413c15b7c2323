package dev.holdfast.store.jdbc;

import dev.holdfast.servers.sql.MariaDbOrMysql;
import dev.holdfast.testkit.LockStoreConformance;
import dev.holdfast.testkit.StoreUnderTest;
import org.junit.jupiter.api.Tag;

/** The conformance tests on a manual clock. */
@Tag("mysql")
@Tag("server")
@Tag("oldest")
class MariaDbConformanceTest extends LockStoreConformance {

    @Override
    protected StoreUnderTest open() {
        return new JdbcUnderTest(MariaDbOrMysql.shared(), true);
    }
}
