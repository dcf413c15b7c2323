package dev.holdfast.store.sql;

import static dev.holdfast.store.sql.TestDatabase.newName;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.servers.MariaDbServer;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@DisplayName("On MariaDB")
class MariaDbRowsTest {

    private static final Duration LONG = Duration.ofSeconds(30);
    private static final Duration SHORT = Duration.ofMillis(60);

    private static MariaDbServer server;
    private static TestSource source;

    private final RowLocks locks = RowLocks.usual();
    private final String name = newName();

    @BeforeAll
    static void start() throws SQLException {
        // What makes a wait that is too long the end of a transaction.
        server = MariaDbServer.builder()
                .option("innodb-rollback-on-timeout", "1")
                .start();
        source = new TestSource(server.url());
        RowTables.usual().createIfMissing(source);
        source.execute("CREATE TABLE account (id INT PRIMARY KEY, n INT NOT NULL, version BIGINT NOT NULL)");
    }

    @AfterAll
    static void stop() {
        server.close();
    }

    @Test
    @DisplayName("a wait that is too long harms nothing even if the server undoes transactions for it")
    @Tag("Y3")
    void aTimeoutUndoesNothing() throws SQLException {
        source.execute("DELETE FROM account");
        try (Connection alice = source.begin();
                Connection bob = source.begin()) {
            locks.lock(alice, name, LONG);
            TestSource.execute(bob, "INSERT INTO account VALUES (1, 0, 0)");
            assertThatThrownBy(() -> locks.lock(bob, name, SHORT)).isInstanceOf(RowLockTimeoutException.class);
            assertThatThrownBy(() -> locks.lock(bob, name, Duration.ofMillis(1_100)))
                    .isInstanceOf(RowLockTimeoutException.class);
            assertThat(TestSource.text(bob, "SELECT count(*) FROM account")).isEqualTo("1");
            // Who doesn't wait at all meets what the server is set to, and is told.
            assertThatThrownBy(() -> locks.tryLock(bob, name))
                    .isInstanceOf(TransactionConflictException.class)
                    .hasStackTraceContaining("innodb_rollback_on_timeout");
            assertThat(TestSource.text(bob, "SELECT count(*) FROM account")).isEqualTo("0");
        }
    }

    @Test
    @DisplayName("statements for MySQL lock, refuse in time and set the session back")
    @Tag("Y4")
    void mysqlStatements() throws Exception {
        // There is no MySQL here; MariaDB understands all of it, and answers with other codes.
        RowTables tables = RowTables.usual();
        try (MariaDbServer plain = MariaDbServer.start()) {
            TestSource other = new TestSource(plain.url());
            tables.createIfMissing(other);
            other.execute("CREATE TABLE account (id INT PRIMARY KEY)", "INSERT INTO account VALUES (1)");
            OwnRow own = OwnRow.lock(tables, new dev.holdfast.spi.ResourceName(name));
            TableRow row = TableRow.of("account", "id", 1);
            RowDialect mysql = MysqlRows.INSTANCE;
            try (Connection alice = other.begin();
                    Connection bob = other.begin()) {
                TestSource.execute(bob, "SET innodb_lock_wait_timeout = 7");
                long uses = mysql.lockOwn(alice, own, LONG, found -> found.getLong(1));
                assertThat(uses).isEqualTo(1);
                uses = mysql.lockOwn(alice, own, Duration.ZERO, found -> found.getLong(1));
                assertThat(uses).isEqualTo(1);
                assertThat(mysql.lock(alice, row, LONG)).isTrue();
                assertThat(mysql.lock(alice, TableRow.of("account", "id", 2), LONG))
                        .isFalse();
                for (Duration wait : List.of(Duration.ZERO, SHORT)) {
                    assertThatThrownBy(() -> mysql.lock(bob, row, wait)).isInstanceOf(RowDialect.Busy.class);
                    assertThat(TestSource.text(bob, "SELECT @@innodb_lock_wait_timeout"))
                            .isEqualTo("7");
                }
                assertThatThrownBy(() -> mysql.lockOwn(bob, own, Duration.ZERO, found -> 1))
                        .isInstanceOf(RowDialect.Busy.class);
                CompletableFuture<Boolean> waiting = Meanwhile.run(() -> mysql.lock(bob, row, LONG));
                alice.commit();
                assertThat(waiting.join()).isTrue();
                assertThat(TestSource.text(bob, "SELECT @@innodb_lock_wait_timeout"))
                        .isEqualTo("7");
            }
        }
    }

    @Test
    @DisplayName("when the server is killed, the lock is free and nothing was written")
    @Tag("Y1")
    void theServerIsKilled() throws SQLException {
        try (MariaDbServer mortal = MariaDbServer.start()) {
            TestSource other = new TestSource(mortal.url());
            RowTables.usual().createIfMissing(other);
            other.execute("CREATE TABLE t (n INT)");
            Connection alice = other.begin();
            Connection bob = other.begin();
            locks.lock(alice, name, LONG);
            FenceGuard.usual().check(alice, name, 9, "a");
            TestSource.execute(alice, "INSERT INTO t VALUES (1)");
            CompletableFuture<Void> waiting = Meanwhile.run(() -> {
                locks.lock(bob, name, LONG);
                return null;
            });
            mortal.kill();
            assertThatThrownBy(waiting::join).hasCauseInstanceOf(SQLException.class);
            assertThatThrownBy(alice::commit).isInstanceOf(SQLException.class);
            mortal.restart();
            assertThat(other.text("SELECT count(*) FROM t")).isEqualTo("0");
            try (Connection carol = other.begin()) {
                assertThat(locks.tryLock(carol, name)).isTrue();
                FenceGuard.usual().check(carol, name, 1, "c");
                carol.commit();
            }
        }
    }

    @Test
    @DisplayName("the rights to read, insert and update are enough, but for making tables and purging")
    @Tag("Y8")
    void fewRightsAreEnough() throws SQLException {
        TestSource clerk = new TestSource(Grants.grant(source.url(), "rows", "holdfast_"));
        RowTables.usual().check(clerk);
        RowTables.usual().createIfMissing(clerk);
        try (Connection connection = clerk.begin()) {
            locks.lock(connection, name, LONG);
            assertThat(locks.tryLock(connection, newName())).isTrue();
            FenceGuard.usual().check(connection, name, 3, "a");
            Versioned.named(name).advance(connection, Versioned.named(name).read(connection));
            connection.commit();
            assertThatThrownBy(() -> locks.purge(connection, 1)).isInstanceOf(SQLException.class);
        }
        assertThatThrownBy(() -> RowTables.usual().withPrefix("clerks_").create(clerk))
                .isInstanceOf(SQLException.class);
    }

    @Test
    @DisplayName("the tables may be in a database of their own")
    @Tag("Y8")
    void inADatabase() throws SQLException {
        source.execute("CREATE DATABASE locks");
        RowTables tables = RowTables.usual().inSchema("locks").withPrefix("of_");
        tables.createIfMissing(source);
        try (Connection connection = source.begin()) {
            RowLocks.in(tables).lock(connection, name, LONG);
            FenceGuard.in(tables).check(connection, name, 1, "a");
            Versioned.named(tables, name)
                    .advance(connection, Versioned.named(tables, name).read(connection));
            connection.commit();
        }
        assertThat(source.text("SELECT count(*) FROM locks.of_fence")).isEqualTo("1");
    }
}
