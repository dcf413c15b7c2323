package dev.holdfast.sql.rows;

import static dev.holdfast.servers.sql.TestDatabase.newName;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.servers.LocalSqlServer;
import dev.holdfast.servers.sql.Grants;
import dev.holdfast.servers.sql.Meanwhile;
import dev.holdfast.servers.sql.TestSource;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Tests for every server: its end, the permissions of the user, and the schema of the tables. */
@Tag("postgres")
abstract class RowsOnAServerTest {

    static final Duration LONG = Duration.ofSeconds(30);

    final RowLocks locks = RowLocks.usual();
    final String name = newName();

    /** The database of all tests of the class. */
    abstract TestSource source();

    /** A server for one test. */
    abstract LocalSqlServer start();

    @Test
    @DisplayName("when the server is killed, the lock is free and nothing was written")
    @Tag("Y1")
    void theServerIsKilled() throws SQLException {
        try (LocalSqlServer mortal = start()) {
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
        TestSource clerk = new TestSource(Grants.grant(source().url(), "rows", "holdfast_"));
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
    @DisplayName("the tables may be in a schema of their own")
    @Tag("Y8")
    void inASchema() throws SQLException {
        source().execute("CREATE SCHEMA locks");
        RowTables tables = RowTables.usual().inSchema("locks").withPrefix("of_");
        tables.createIfMissing(source());
        try (Connection connection = source().begin()) {
            RowLocks.in(tables).lock(connection, name, LONG);
            FenceGuard.in(tables).check(connection, name, 1, "a");
            Versioned.named(tables, name)
                    .advance(connection, Versioned.named(tables, name).read(connection));
            connection.commit();
        }
        assertThat(source().text("SELECT count(*) FROM locks.of_fence")).isEqualTo("1");
    }
}
