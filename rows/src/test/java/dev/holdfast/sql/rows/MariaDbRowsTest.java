package dev.holdfast.sql.rows;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.servers.LocalSqlServer;
import dev.holdfast.servers.sql.MariaDbOrMysql;
import dev.holdfast.servers.sql.Meanwhile;
import dev.holdfast.servers.sql.StatementLog;
import dev.holdfast.servers.sql.TestSource;
import dev.holdfast.spi.ResourceName;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.DisabledIf;
import org.junit.jupiter.api.condition.EnabledIf;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@DisplayName("On MariaDB or MySQL")
@Tag("mysql")
@Tag("server")
class MariaDbRowsTest extends RowsOnAServerTest {

    private static final Duration SHORT = Duration.ofMillis(60);

    private static LocalSqlServer server;
    private static TestSource source;

    @BeforeAll
    static void startServer() throws SQLException {
        // With this setting a lock-wait time-out ends the transaction.
        server = MariaDbOrMysql.start("innodb-rollback-on-timeout", "1");
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
        return MariaDbOrMysql.start();
    }

    @Test
    @DisplayName("a wait that is too long harms nothing even if the server undoes transactions for it")
    @Tag("Y3")
    @DisabledIf("dev.holdfast.servers.sql.MariaDbOrMysql#isMysql")
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
            // A try is subject to the server's setting, and reports it.
            assertThatThrownBy(() -> locks.tryLock(bob, name))
                    .isInstanceOf(TransactionConflictException.class)
                    .hasStackTraceContaining("innodb_rollback_on_timeout");
            assertThat(TestSource.text(bob, "SELECT count(*) FROM account")).isEqualTo("0");
        }
    }

    @Test
    @DisplayName("on MySQL a try harms nothing, and who waits for too long is told if the server undid the transaction")
    @Tag("Y3")
    @EnabledIf("dev.holdfast.servers.sql.MariaDbOrMysql#isMysql")
    void aTimeoutIsTold() throws SQLException {
        source.execute("DELETE FROM account");
        use(server.url(), name);
        try (Connection alice = source.begin();
                Connection bob = source.begin()) {
            locks.lock(alice, name, LONG);
            TestSource.execute(bob, "INSERT INTO account VALUES (1, 0, 0)");
            assertThat(locks.tryLock(bob, name)).isFalse();
            assertThat(TestSource.text(bob, "SELECT count(*) FROM account")).isEqualTo("1");
            assertThatThrownBy(() -> locks.lock(bob, name, SHORT))
                    .isInstanceOf(TransactionConflictException.class)
                    .hasStackTraceContaining("innodb_rollback_on_timeout");
            assertThat(TestSource.text(bob, "SELECT count(*) FROM account")).isEqualTo("0");
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"MariaDB", "MySQL"})
    @DisplayName("names that are new, tried at the same time beside each other, are all locked and undo no transaction")
    @Tag("Y3")
    void newNamesAtOnce(String product) throws Exception {
        RowDialect dialect =
                product.equals("MySQL") || MariaDbOrMysql.isMysql() ? MysqlRows.INSTANCE : MariaDbRows.INSTANCE;
        AtomicInteger number = new AtomicInteger();
        Meanwhile.all(4, () -> {
            try (Connection connection = source.begin()) {
                for (int i = 0; i < 50; i++) {
                    NamedRow own =
                            NamedRow.lock(RowTables.usual(), new ResourceName(name + "-" + number.incrementAndGet()));
                    assertThat(dialect.<Long>lockOwn(connection, own, Duration.ZERO, row -> row.getLong(1)))
                            .isEqualTo(1);
                    connection.commit();
                }
            }
            return true;
        });
        assertThat(source.text("SELECT count(*) FROM holdfast_row_lock WHERE name LIKE '" + name + "-%'"))
                .isEqualTo("200");
    }

    /** Two active transactions on one database whose inserts of names begin together. */
    private static final class Tries implements AutoCloseable {
        private final CyclicBarrier inserts = new CyclicBarrier(2);
        private final TestSource plain;
        private final List<Connection> transactions = new ArrayList<>();

        Tries(String url) throws SQLException {
            plain = new TestSource(url);
            RowTables.usual().createIfMissing(plain);
            plain.execute("CREATE TABLE IF NOT EXISTS work (id INT PRIMARY KEY)");
            StatementLog source = new StatementLog(url) {
                @Override
                public Object call(Connection connection, String text, Call call) throws Throwable {
                    if (text.startsWith("INSERT INTO `holdfast_row_lock`")) {
                        inserts.await(30, TimeUnit.SECONDS);
                    }
                    return super.call(connection, text, call);
                }
            };
            for (int id = 0; id < 2; id++) {
                Connection transaction = source.begin();
                TestSource.execute(transaction, "INSERT INTO work VALUES (" + id + ")");
                transactions.add(transaction);
            }
        }

        /** Whether each locks its own name. */
        List<Boolean> lock(String... names) {
            List<CompletableFuture<Boolean>> tries = new ArrayList<>();
            for (int i = 0; i < names.length; i++) {
                Connection transaction = transactions.get(i);
                String name = names[i];
                tries.add(Meanwhile.run(() -> isLocked(transaction, name)));
            }
            return tries.stream().map(CompletableFuture::join).toList();
        }

        /** Both continue with what they had. */
        void commit() throws SQLException {
            for (Connection transaction : transactions) {
                transaction.commit();
            }
            assertThat(plain.text("SELECT count(*) FROM work")).isEqualTo("2");
        }

        @Override
        public void close() throws SQLException {
            for (Connection transaction : transactions) {
                transaction.close();
            }
        }
    }

    private static boolean isLocked(Connection transaction, String name) throws SQLException {
        NamedRow row = NamedRow.lock(RowTables.usual(), new ResourceName(name));
        try {
            return MysqlRows.INSTANCE.<Long>lockOwn(transaction, row, Duration.ZERO, found -> found.getLong(1)) > 0;
        } catch (RowDialect.Busy e) {
            return false;
        }
    }

    /** Uses the names, so that their rows exist and are known. */
    private static void use(String url, String... names) throws SQLException {
        TestSource plain = new TestSource(url);
        RowTables.usual().createIfMissing(plain);
        for (int times = 0; times < 2; times++) {
            for (String one : names) {
                try (Connection connection = plain.begin()) {
                    assertThat(isLocked(connection, one)).isTrue();
                    connection.commit();
                }
            }
        }
    }

    @Test
    @DisplayName("tries on MySQL undo no transaction, though the names were used in another database")
    @Tag("Y3")
    void namesOfAnotherDatabase() throws Exception {
        use(server.newDatabase(), "a", "b");
        try (Tries tries = new Tries(server.newDatabase())) {
            assertThat(tries.lock("a", "b")).containsExactly(true, true);
            tries.commit();
        }
    }

    @Test
    @DisplayName("tries on MySQL undo no transaction, though the names were purged since they were used")
    @Tag("Y3")
    void purgedNames() throws Exception {
        String url = server.newDatabase();
        use(url, "a", "b");
        try (Connection purging = new TestSource(url).begin()) {
            assertThat(MysqlRows.INSTANCE.deleteUnlocked(
                            purging, RowTables.usual().rowLock(), 10))
                    .isEqualTo(2);
            purging.commit();
        }
        try (Tries tries = new Tries(url)) {
            assertThat(tries.lock("a", "b")).containsExactly(true, true);
            tries.commit();
        }
    }

    @Test
    @DisplayName("tries on MySQL undo no transaction, though somebody else has deleted the rows; the next makes them")
    @Tag("Y3")
    void deletedNames() throws Exception {
        String url = server.newDatabase();
        use(url, "a", "b");
        new TestSource(url).execute("DELETE FROM holdfast_row_lock");
        try (Tries tries = new Tries(url)) {
            assertThat(tries.lock("a", "b")).containsExactly(false, false);
            assertThat(tries.lock("c", "d"))
                    .as("new names, which to insert would undo one of them")
                    .containsExactly(false, false);
            tries.commit();
            assertThat(tries.lock("a", "b")).containsExactly(true, true);
            tries.commit();
        }
    }

    @Test
    @DisplayName("what failed first is told, also if the session's setting can't be restored after it")
    @Tag("Y4")
    void theFirstFailureIsTold() throws SQLException {
        StatementLog breaking = new StatementLog(source.url()) {
            @Override
            public Object call(Connection connection, String text, Call call) throws Throwable {
                if (text.contains("FOR UPDATE")) {
                    connection.close();
                }
                return super.call(connection, text, call);
            }
        };
        TableRow row = TableRow.of("account", "id", 1);
        try (Connection alice = breaking.begin()) {
            assertThatThrownBy(() -> MysqlRows.INSTANCE.lock(alice, row, LONG))
                    .isInstanceOf(SQLException.class)
                    .satisfies(e -> assertThat(e.getSuppressed()).hasSize(1));
        }
    }

    @Test
    @DisplayName("statements for MySQL lock, refuse in time and set the session back")
    @Tag("Y4")
    void mysqlStatements() throws Exception {
        // Without a MySQL server, MariaDB runs the same statements and returns other codes.
        RowTables tables = RowTables.usual();
        try (LocalSqlServer plain = MariaDbOrMysql.start()) {
            TestSource other = new TestSource(plain.url());
            tables.createIfMissing(other);
            other.execute("CREATE TABLE account (id INT PRIMARY KEY)", "INSERT INTO account VALUES (1)");
            NamedRow own = NamedRow.lock(tables, new ResourceName(name));
            TableRow row = TableRow.of("account", "id", 1);
            RowDialect mysql = MysqlRows.INSTANCE;
            try (Connection alice = other.begin();
                    Connection bob = other.begin()) {
                TestSource.execute(bob, "SET innodb_lock_wait_timeout = 7");
                long uses = mysql.lockOwn(alice, own, LONG, found -> found.getLong(1));
                assertThat(uses).isEqualTo(1);
                uses = mysql.lockOwn(alice, own, Duration.ZERO, found -> found.getLong(1));
                assertThat(uses)
                        .as("its own row may still go with its transaction")
                        .isEqualTo(2);
                uses = mysql.lockOwn(alice, own, Duration.ZERO, found -> found.getLong(1));
                assertThat(uses).as("queried only").isEqualTo(2);
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
}
