package dev.holdfast.sql.rows;

import dev.holdfast.servers.sql.TestDatabase;
import dev.holdfast.servers.sql.TestSource;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.params.Parameter;

/** Two transactions on one database of each kind. */
abstract class TwoTransactions {

    private static final Map<TestDatabase, TestSource> SOURCES = new ConcurrentHashMap<>();

    @Parameter
    TestDatabase database;

    TestSource source;
    Connection alice;
    Connection bob;

    @BeforeEach
    void connect() throws SQLException {
        source = SOURCES.computeIfAbsent(database, TwoTransactions::withTables);
        alice = source.begin();
        bob = source.begin();
    }

    @AfterEach
    void disconnect() throws SQLException {
        if (alice != null) { // null if this database is not tested
            alice.close();
            bob.close();
        }
    }

    private static TestSource withTables(TestDatabase database) {
        TestSource made = new TestSource(database.newUrl());
        try {
            RowTables.usual().createIfMissing(made);
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
        return made;
    }
}
