package dev.holdfast.sql.rows;

import static dev.holdfast.servers.sql.TestDatabase.newName;
import static dev.holdfast.servers.sql.TestDatabase.newTable;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeFalse;

import dev.holdfast.StoreRefusedException;
import dev.holdfast.servers.sql.MariaDbOrMysql;
import dev.holdfast.servers.sql.Meanwhile;
import dev.holdfast.servers.sql.TestDatabase;
import dev.holdfast.servers.sql.TestSource;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;

@ParameterizedClass
@EnumSource(TestDatabase.class)
@DisplayName("A lock in a transaction")
@Tag("mysql")
@Tag("server")
@Tag("postgres")
class RowLocksTest extends TwoTransactions {

    private static final Duration LONG = Duration.ofSeconds(30);
    private static final Duration SHORT = Duration.ofMillis(60);

    private final RowLocks locks = RowLocks.usual();
    private final String name = newName();

    @Test
    @DisplayName("lasts until the transaction is committed or rolled back, from its first use on")
    @Tag("Y1")
    void lastsAsLongAsTheTransaction() throws SQLException {
        locks.lock(alice, name, LONG);
        locks.lock(alice, name, LONG);
        assertThat(locks.tryLock(alice, name)).isTrue();
        assertThat(locks.tryLock(bob, name)).isFalse();
        alice.rollback();
        assertThat(locks.tryLock(bob, name)).isTrue();
        bob.commit();
        locks.lock(alice, name, Duration.ZERO);
        assertThat(locks.tryLock(bob, name)).isFalse();
        alice.commit();
        assertThat(locks.tryLock(bob, name)).isTrue();
    }

    @Test
    @DisplayName("ends with its connection")
    @Tag("Y1")
    void endsWithTheConnection() throws SQLException {
        locks.lock(alice, name, LONG);
        alice.close();
        locks.lock(bob, name, LONG);
    }

    @Test
    @DisplayName("has one holder at a time, of many that wait, and each sees what the one before has written")
    @Tag("Y1")
    void oneAtATime() throws Exception {
        String table = newTable();
        source.execute("CREATE TABLE " + table + " (n INT NOT NULL)", "INSERT INTO " + table + " VALUES (0)");
        Meanwhile.all(4, () -> {
            try (Connection connection = source.begin()) {
                for (int i = 0; i < 25; i++) {
                    locks.lock(connection, name, LONG);
                    int n = Integer.parseInt(TestSource.text(connection, "SELECT n FROM " + table));
                    TestSource.execute(connection, "UPDATE " + table + " SET n = " + (n + 1));
                    connection.commit();
                }
            }
            return true;
        });
        assertThat(source.text("SELECT n FROM " + table)).isEqualTo("100");
    }

    @Test
    @DisplayName("is refused where each statement is committed by itself")
    @Tag("Y2")
    void needsATransaction() throws SQLException {
        alice.setAutoCommit(true);
        assertThatThrownBy(() -> locks.lock(alice, name, LONG))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("setAutoCommit(false)");
        assertThatThrownBy(() -> locks.tryLock(alice, name)).isInstanceOf(IllegalStateException.class);
        assertThat(locks.tryLock(bob, name)).isTrue();
    }

    @Test
    @DisplayName("is waited for no longer than allowed, and then the transaction can go on with what it had")
    @Tag("Y3")
    void aWaitThatIsTooLongHarmsNothing() throws SQLException {
        String table = newTable();
        String other = newName();
        source.execute("CREATE TABLE " + table + " (n INT NOT NULL)");
        if (!database.isOneLock()) {
            TestSource.execute(bob, "INSERT INTO " + table + " VALUES (1)");
            locks.lock(bob, other, LONG);
        }
        locks.lock(alice, name, LONG);

        assertThatThrownBy(() -> locks.lock(bob, name, SHORT))
                .isInstanceOfSatisfying(RowLockTimeoutException.class, e -> {
                    assertThat(e.waited()).isEqualTo(SHORT);
                    assertThat(e.resource()).isEqualTo(name);
                })
                .hasMessageContaining(name);
        assertThatThrownBy(() -> locks.lock(bob, name, Duration.ZERO)).isInstanceOf(RowLockTimeoutException.class);
        assertThat(locks.tryLock(bob, name)).isFalse();
        if (!database.isOneLock()) {
            assertThat(locks.tryLock(alice, other)).isFalse();
        }

        alice.rollback();
        TestSource.execute(bob, "INSERT INTO " + table + " VALUES (2)");
        bob.commit();
        assertThat(source.text("SELECT max(n) FROM " + table)).isEqualTo("2");
        assertThat(source.text("SELECT count(*) FROM " + table)).isEqualTo(database.isOneLock() ? "1" : "2");
    }

    @Test
    @DisplayName("leaves the settings of the session as they were, had or not had")
    @Tag("Y4")
    void leavesNothingBehind() throws SQLException {
        List<String> settings = switch (database) {
            case POSTGRES -> List.of("SHOW lock_timeout", "SHOW statement_timeout");
            case MARIADB ->
                List.of(
                        "SELECT @@innodb_lock_wait_timeout",
                        "SELECT @@" + (MariaDbOrMysql.isMysql() ? "max_execution_time" : "max_statement_time"));
            case SQLITE -> List.of("PRAGMA busy_timeout");
        };
        switch (database) {
            case POSTGRES -> {
                TestSource.execute(bob, "SET lock_timeout = '7s'");
                bob.commit();
                TestSource.execute(bob, "SET LOCAL lock_timeout = '9s'");
            }
            case MARIADB -> TestSource.execute(bob, "SET innodb_lock_wait_timeout = 7");
            case SQLITE -> TestSource.execute(bob, "PRAGMA busy_timeout = 77");
        }
        List<String> before = values(bob, settings);

        locks.lock(alice, name, LONG);
        assertThatThrownBy(() -> locks.lock(bob, name, SHORT)).isInstanceOf(RowLockTimeoutException.class);
        assertThat(values(bob, settings)).isEqualTo(before);
        assertThat(locks.tryLock(bob, name)).isFalse();
        assertThat(values(bob, settings)).isEqualTo(before);
        alice.commit();
        locks.lock(bob, newName(), LONG);
        assertThat(values(bob, settings)).isEqualTo(before);
        bob.commit();
        if (database == TestDatabase.POSTGRES) {
            assertThat(TestSource.text(bob, "SHOW lock_timeout")).isEqualTo("7s");
        } else {
            assertThat(values(bob, settings)).isEqualTo(before);
        }
    }

    private static List<String> values(Connection connection, List<String> settings) throws SQLException {
        return Stream.of(settings.toArray(new String[0]))
                .map(query -> {
                    try {
                        return TestSource.text(connection, query);
                    } catch (SQLException e) {
                        throw new IllegalStateException(e);
                    }
                })
                .toList();
    }

    @Test
    @DisplayName("that closes a circle of waits fails one of them with an error that says to repeat")
    @Tag("Y5")
    void aDeadlockIsTold() throws Exception {
        assumeFalse(database.isOneLock(), "there is one lock, so there is no circle");
        String other = newName();
        locks.lock(alice, name, LONG);
        locks.lock(bob, other, LONG);
        CompletableFuture<Boolean> first = Meanwhile.run(() -> {
            try {
                locks.lock(alice, other, LONG);
                return true;
            } catch (TransactionConflictException e) {
                assertThat(e.kind()).isEqualTo(TransactionConflictException.Kind.DEADLOCK);
                alice.rollback();
                return false;
            }
        });
        boolean second;
        try {
            locks.lock(bob, name, LONG);
            second = true;
        } catch (TransactionConflictException e) {
            assertThat(e).hasMessageContaining("repeat").hasMessageContaining(name);
            bob.rollback();
            second = false;
        }
        assertThat(List.of(first.join(), second)).containsExactlyInAnyOrder(true, false);
    }

    @Test
    @DisplayName("is told apart by every byte of its name, and names that make no sense are refused")
    @Tag("Y6")
    void namesAreBytes() throws SQLException {
        List<String> names = List.of(
                name,
                name + " ",
                name.toUpperCase(Locale.ROOT),
                name + "é",
                name + "e",
                name + "\0",
                name + "'; DROP TABLE holdfast_row_lock",
                "ü".repeat(250) + name);
        for (String one : names) {
            locks.lock(alice, one, LONG);
        }
        assertThat(TestSource.text(alice, "SELECT count(*) FROM holdfast_row_lock WHERE uses > 0"))
                .satisfies(count -> assertThat(Integer.parseInt(count)).isGreaterThanOrEqualTo(names.size()));
        if (!database.isOneLock()) {
            for (String one : names) {
                assertThat(locks.tryLock(bob, one)).isFalse();
            }
            assertThat(locks.tryLock(bob, name + "x")).isTrue();
        }
        for (String bad : List.of("", "  ", "x".repeat(513), "\ud800")) {
            assertThatIllegalArgumentException().isThrownBy(() -> locks.lock(alice, bad, LONG));
        }
        assertThatIllegalArgumentException().isThrownBy(() -> locks.lock(alice, name, Duration.ofNanos(-1)));
        locks.lock(alice, name, Duration.ofSeconds(Long.MAX_VALUE));
    }

    @Test
    @DisplayName("can be one on a row of the caller's own table, by any key")
    @Tag("Y6")
    void locksRowsOfTheirs() throws SQLException {
        String table = newTable();
        source.execute(
                "CREATE TABLE " + table + " (tenant VARCHAR(20) NOT NULL, id INT NOT NULL, n INT NOT NULL,"
                        + " PRIMARY KEY (tenant, id))",
                "INSERT INTO " + table + " VALUES ('a', 1, 0)",
                "INSERT INTO " + table + " VALUES ('a', 2, 0)");
        TableRow row = TableRow.of(table, "tenant", "a").and("id", 1);
        locks.lock(alice, row, LONG);
        locks.lock(alice, row, Duration.ZERO);
        assertThat(locks.tryLock(bob, row)).isFalse();
        assertThatThrownBy(() -> locks.lock(bob, row, SHORT)).isInstanceOf(RowLockTimeoutException.class);
        TableRow second = TableRow.of(table, "tenant", "a").and("id", 2);
        assertThat(locks.tryLock(bob, second)).isEqualTo(!database.isOneLock());
        bob.rollback();
        TestSource.execute(alice, "DELETE FROM " + table + " WHERE id = 1");
        CompletableFuture<Void> waiting = Meanwhile.run(() -> {
            locks.lock(bob, row, LONG);
            return null;
        });
        alice.commit();
        assertThatThrownBy(waiting::join).hasCauseInstanceOf(NoSuchRowException.class);
        bob.rollback();
        assertThatThrownBy(() -> locks.tryLock(alice, row))
                .isInstanceOf(NoSuchRowException.class)
                .hasMessageContaining(table);
    }

    @Test
    @DisplayName("is refused where a name in the database is none, or the key names several rows")
    @Tag("Y6")
    void identifiersAreChecked() throws SQLException {
        for (String bad : List.of("", "a b", "a;b", "a\"b", "a`b", "1a", "a.b.c", "x".repeat(64), "ä", "a.")) {
            assertThatIllegalArgumentException().isThrownBy(() -> TableRow.of(bad, "id", 1));
        }
        assertThatIllegalArgumentException().isThrownBy(() -> TableRow.of("t", "id = id --", 1));
        assertThatIllegalArgumentException()
                .isThrownBy(() -> TableRow.of("t", "id", 1).and("id", 2));
        String table = newTable();
        source.execute(
                "CREATE TABLE " + table + " (id INT NOT NULL, n INT NOT NULL)",
                "INSERT INTO " + table + " VALUES (1, 1)",
                "INSERT INTO " + table + " VALUES (1, 2)");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> locks.lock(alice, TableRow.of(table, "id", 1), LONG))
                .withMessageContaining("more than one");
        assertThatThrownBy(() -> locks.lock(alice, TableRow.of(table, "no_such_column", "no_such_column"), LONG))
                .isInstanceOf(SQLException.class);
    }

    @Test
    @DisplayName("leaves a row under its name, until those that nobody has are purged")
    @Tag("Y7")
    void idleRowsArePurged() throws Exception {
        RowTables own = RowTables.usual().withPrefix("purge_" + newTable() + "_");
        own.create(source);
        RowLocks some = RowLocks.in(own);
        for (int i = 0; i < 10; i++) {
            some.lock(alice, name + i, LONG);
        }
        alice.commit();
        if (!database.isOneLock()) {
            some.lock(bob, name + 3, LONG);
        }
        assertThat(some.purge(alice, 4)).isEqualTo(4);
        alice.commit();
        assertThat(some.purge(alice, 100)).isEqualTo(database.isOneLock() ? 6 : 5);
        CompletableFuture<Boolean> meanwhile = Meanwhile.run(() -> {
            try (Connection carol = source.begin()) {
                some.lock(carol, name + 0, LONG);
                carol.commit();
                return true;
            }
        });
        alice.commit();
        assertThat(meanwhile.join()).isTrue();
        if (!database.isOneLock()) {
            assertThat(some.tryLock(alice, name + 3)).isFalse();
        }
    }

    @Test
    @DisplayName("works in a pool that has one connection and doesn't commit by itself")
    @Tag("Y4")
    void worksInAPoolOfOne() throws Exception {
        try (TestSource.PoolOfOne pool = new TestSource.PoolOfOne(source.url())) {
            Meanwhile.all(4, () -> {
                for (int i = 0; i < 5; i++) {
                    try (Connection connection = pool.getConnection()) {
                        locks.lock(connection, name, LONG);
                        connection.commit();
                    }
                }
                return true;
            });
        }
    }

    @Test
    @DisplayName("is refused on a database that is not known")
    void onlyWhereItIsKnown() throws SQLException {
        Connection unknown = (Connection) Proxy.newProxyInstance(
                getClass().getClassLoader(),
                new Class<?>[] {Connection.class},
                (proxy, method, arguments) -> switch (method.getName()) {
                    case "getAutoCommit" -> false;
                    case "getMetaData" ->
                        Proxy.newProxyInstance(
                                getClass().getClassLoader(),
                                new Class<?>[] {DatabaseMetaData.class},
                                (meta, asked, none) -> "Cardfile");
                    default -> throw new AssertionError(method);
                });
        assertThatIllegalArgumentException()
                .isThrownBy(() -> locks.lock(unknown, name, LONG))
                .withMessageContaining("Cardfile");
    }

    @Test
    @DisplayName("needs tables that any number of programs may make at once")
    @Tag("Y8")
    void tablesAreMadeOnce() throws Exception {
        TestSource empty = new TestSource(database.newUrl());
        RowTables tables = RowTables.usual().withPrefix("shop_");
        assertThatThrownBy(() -> tables.check(empty))
                .isInstanceOf(StoreRefusedException.class)
                .hasMessageContaining("missing");
        Meanwhile.all(4, () -> {
            tables.createIfMissing(empty);
            return true;
        });
        tables.check(empty);
        tables.create(empty);
        try (Connection connection = empty.begin()) {
            RowLocks.in(tables).lock(connection, name, LONG);
            connection.commit();
        }
        empty.execute("UPDATE shop_rows_meta SET version = 2000");
        assertThatThrownBy(() -> tables.createIfMissing(empty))
                .isInstanceOf(StoreRefusedException.class)
                .hasMessageContaining("2.0");
        assertThatIllegalArgumentException().isThrownBy(() -> RowTables.usual().withPrefix("a-b"));
        assertThatIllegalArgumentException().isThrownBy(() -> RowTables.usual().inSchema("a\"b"));
    }
}
