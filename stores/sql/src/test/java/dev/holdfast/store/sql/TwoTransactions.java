package dev.holdfast.store.sql;

import java.sql.Connection;
import java.sql.SQLException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.params.Parameter;

/** Two transactions on one database of each kind. */
abstract class TwoTransactions {

    @Parameter
    TestDatabase database;

    TestSource source;
    Connection alice;
    Connection bob;

    @BeforeEach
    void connect() throws SQLException {
        source = database.source();
        alice = source.begin();
        bob = source.begin();
    }

    @AfterEach
    void disconnect() throws SQLException {
        if (alice != null) { // else this database is not tested
            alice.close();
            bob.close();
        }
    }
}
