package dev.holdfast.sql.rows;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.servers.LocalSqlServer;
import dev.holdfast.servers.PostgresServer;
import dev.holdfast.servers.sql.Meanwhile;
import dev.holdfast.servers.sql.TestSource;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@DisplayName("On PostgreSQL")
@Tag("server")
@Tag("postgres")
class PostgresRowsTest extends RowsOnAServerTest {

    private static PostgresServer server;
    private static TestSource source;

    @BeforeAll
    static void startServer() throws SQLException {
        // The strictest isolation, which many programs have as their default.
        server = PostgresServer.builder()
                .option("default_transaction_isolation", "serializable")
                .start();
        source = new TestSource(server.url());
        RowTables.usual().createIfMissing(source);
        source.execute("CREATE TABLE account (id INT PRIMARY KEY, n INT NOT NULL, version BIGINT NOT NULL)");
    }

    @AfterAll
    static void stopServer() {
        server.close();
    }

    @Override
    TestSource source() {
        return source;
    }

    @Override
    LocalSqlServer start() {
        return PostgresServer.start();
    }

    private static void reset() throws SQLException {
        source.execute("DELETE FROM account", "INSERT INTO account VALUES (1, 0, 0)");
    }

    private static Connection committed() throws SQLException {
        Connection connection = source.begin();
        connection.setTransactionIsolation(Connection.TRANSACTION_READ_COMMITTED);
        return connection;
    }

    @Test
    @DisplayName("many that want one lock, and tries that are in vain, write no error into the server's log")
    @Tag("Y9")
    void contentionIsNoError() throws Exception {
        reset();
        int before = server.errors().size();
        FenceGuard guard = FenceGuard.usual();
        TableRow account = TableRow.of("account", "id", 1);
        RowTables.usual().createIfMissing(source);
        RowTables.usual().check(source);
        RowTables.usual().create(source);
        try (Connection known = committed()) {
            locks.lock(known, name, LONG); // the first users of a name may conflict; see below
            guard.check(known, name, 1, "first");
            known.commit();
        }
        Meanwhile.all(6, () -> {
            try (Connection connection = committed()) {
                for (int i = 0; i < 20; i++) {
                    if (locks.tryLock(connection, account)) {
                        connection.commit(); // otherwise they could deadlock: everything else is locked in one order
                    }
                    locks.lock(connection, name, LONG);
                    locks.lock(connection, account, LONG);
                    guard.check(connection, name, 1, "first");
                    connection.commit();
                }
            }
            return true;
        });
        assertThat(server.errors()).hasSize(before);
    }

    @Test
    @DisplayName("a wait that is too long is one error in the log, and none is needed to try")
    @Tag("Y9")
    void aTimeoutIsOneError() throws Exception {
        try (Connection alice = committed();
                Connection bob = committed()) {
            locks.lock(alice, name, LONG);
            alice.commit();
            locks.lock(alice, name, LONG);
            int before = server.errors().size();
            assertThat(locks.tryLock(bob, name)).isFalse();
            assertThat(server.errors()).hasSize(before);
            assertThatThrownBy(() -> locks.lock(bob, name, Duration.ofMillis(20)))
                    .isInstanceOf(RowLockTimeoutException.class);
            assertThat(server.errors()).hasSize(before + 1);
            assertThat(server.errors().get(before)).contains("lock timeout");
        }
    }

    @Test
    @DisplayName("a transaction that has seen an older state than the last holder's is told to repeat")
    @Tag("Y10")
    void anOldSnapshotIsRefused() throws SQLException {
        reset();
        for (int level : new int[] {Connection.TRANSACTION_REPEATABLE_READ, Connection.TRANSACTION_SERIALIZABLE}) {
            try (Connection old = source.begin();
                    Connection holder = committed()) {
                old.setTransactionIsolation(level);
                assertThat(TestSource.text(old, "SELECT n FROM account")).isNotEmpty();
                locks.lock(holder, name, LONG);
                TestSource.execute(holder, "UPDATE account SET n = n + 1");
                holder.commit();
                assertThatThrownBy(() -> locks.lock(old, name, LONG))
                        .isInstanceOfSatisfying(
                                TransactionConflictException.class,
                                e -> assertThat(e.kind()).isEqualTo(TransactionConflictException.Kind.STALE_SNAPSHOT));
                old.rollback();
                locks.lock(old, name, LONG);
                old.commit();
            }
        }
    }

    @Test
    @DisplayName("who waits with an old state is told to repeat when the turn comes, and the count is right")
    @Tag("Y10")
    void nothingIsLostUnderSerializable() throws Exception {
        reset();
        Meanwhile.all(4, () -> {
            try (Connection connection = source.begin()) {
                assertThat(TestSource.text(connection, "SHOW transaction_isolation"))
                        .isEqualTo("serializable");
                for (int done = 0; done < 10; ) {
                    try {
                        locks.lock(connection, name, LONG);
                        int n = Integer.parseInt(TestSource.text(connection, "SELECT n FROM account"));
                        TestSource.execute(connection, "UPDATE account SET n = " + (n + 1));
                        connection.commit();
                        done++;
                    } catch (TransactionConflictException e) {
                        connection.rollback();
                    } catch (SQLException e) {
                        // The caller's statements and the commit may fail too.
                        assertThat(e.getSQLState()).isEqualTo("40001");
                        connection.rollback();
                    }
                }
            }
            return true;
        });
        assertThat(source.text("SELECT n FROM account")).isEqualTo("40");
    }

    @Test
    @DisplayName("optimistic versions lose nothing where SERIALIZABLE is the default")
    @Tag("O1")
    void versionsUnderSerializable() throws Exception {
        reset();
        Versioned account =
                Versioned.row(TableRow.of("account", "id", 1), "version").withAttempts(10_000);
        Meanwhile.all(4, () -> {
            for (int i = 0; i < 10; i++) {
                account.update(source, (connection, version) -> {
                    int n = Integer.parseInt(TestSource.text(connection, "SELECT n FROM account"));
                    TestSource.execute(connection, "UPDATE account SET n = " + (n + 1));
                    return true;
                });
            }
            return true;
        });
        assertThat(source.text("SELECT n FROM account")).isEqualTo("40");
        assertThat(source.text("SELECT version FROM account")).isEqualTo("40");
    }

    @Test
    @DisplayName("the conflict is a version's where the database has compared before us")
    @Tag("O2")
    void theDatabaseComparesFirst() throws SQLException {
        reset();
        Versioned account = Versioned.row(TableRow.of("account", "id", 1), "version");
        try (Connection alice = source.begin();
                Connection bob = source.begin()) {
            RowVersion seen = account.read(alice);
            account.advance(bob, account.read(bob));
            bob.commit();
            assertThatThrownBy(() -> account.advance(alice, seen))
                    .isInstanceOfSatisfying(VersionConflictException.class, e -> {
                        assertThat(e.expected()).isEqualTo(seen);
                        assertThat(e.found()).isEmpty();
                    });
        }
    }
}
