package dev.holdfast.store.jdbc;

import dev.holdfast.servers.sql.TestDatabase;
import dev.holdfast.servers.sql.TestSource;
import dev.holdfast.spi.ClaimRef;
import dev.holdfast.spi.LockStore;
import dev.holdfast.store.ledger.table.SessionRow;
import dev.holdfast.store.sqlite.SqliteStore;
import java.nio.file.Path;
import java.sql.SQLException;

/** A new database of each kind with the tables of locks, which the test changes by hand. */
final class HandledTables {

    private final TestSource source;
    private final boolean isSqlite;

    HandledTables(TestDatabase database) {
        this.source = new TestSource(database.newUrl());
        this.isSqlite = database == TestDatabase.SQLITE;
    }

    /** A new store on these tables. */
    LockStore open() {
        return isSqlite
                ? SqliteStore.open(file())
                : JdbcStore.builder(source).keepsConnections().open();
    }

    private Path file() {
        String url = source.url();
        return Path.of(url.substring("jdbc:sqlite:".length(), url.indexOf('?')));
    }

    TestSource source() {
        return source;
    }

    /** Makes a change by hand. */
    void run(String statement) {
        try {
            source.execute(statement);
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
    }

    /** Deletes the row of a claim. */
    void deleteClaim(ClaimRef claim) {
        run("DELETE FROM holdfast_claim WHERE claim = " + claim.claim() + " AND session = "
                + SessionRow.numberOf(claim.session()));
    }

    /** The number of rows in a table. */
    int count(String table) {
        try {
            return Integer.parseInt(source.text("SELECT count(*) FROM holdfast_" + table));
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
    }
}
