package dev.holdfast.store.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.Holdfast;
import dev.holdfast.servers.sql.MariaDbOrMysql;
import dev.holdfast.servers.sql.TestDatabase;
import dev.holdfast.servers.sql.TestSource;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import javax.sql.DataSource;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

@DisplayName("Connections of a pool")
@Tag("mysql")
@Tag("server")
@Tag("postgres")
class LentConnectionsTest {

    static Stream<Arguments> pools() {
        return Stream.of(TestDatabase.POSTGRES, TestDatabase.MARIADB)
                .flatMap(database -> Stream.of(PoolKind.values()).map(kind -> Arguments.of(database, kind)));
    }

    @ParameterizedTest
    @MethodSource("pools")
    @DisplayName("are returned as they were lent, so that the program's next rollback undoes what it did")
    void returnedAsLent(TestDatabase database, PoolKind kind) throws Exception {
        String url = database.newUrl();
        new TestSource(url).execute("CREATE TABLE booking (n INT)");
        try (PoolKind.Pool pool = kind.make(url)) {
            List<String> before = states(pool.source(), database);
            try (JdbcStore store = JdbcStore.builder(pool.source()).open();
                    JdbcStore second = JdbcStore.builder(pool.source()).open();
                    Holdfast one = Holdfast.builder(store).build();
                    Holdfast other = Holdfast.builder(second).build()) {
                assertThat(Contention.of(List.of(one, other), 2, 10, "a", "b")).isEqualTo(40);
                assertThat(one.latch("l").trySetCount(1)).isTrue();
                book(pool.source(), before.get(0).startsWith("autocommit false"));
            }
            book(pool.source(), before.get(0).startsWith("autocommit false"));
            assertThat(states(pool.source(), database)).isEqualTo(before);
        }
        assertThat(new TestSource(url).text("SELECT count(*) FROM booking")).isEqualTo("0");
    }

    /** Writes in a transaction that is rolled back, on a connection with the pool's settings. */
    private static void book(DataSource pool, boolean isTransactional) throws SQLException {
        for (int i = 0; i < PoolKind.SIZE; i++) {
            try (Connection connection = pool.getConnection();
                    Statement statement = connection.createStatement()) {
                assertThat(statement.executeUpdate("INSERT INTO booking VALUES (1)"))
                        .isOne();
                if (isTransactional) {
                    connection.rollback();
                } else {
                    statement.execute("DELETE FROM booking");
                }
            }
        }
    }

    /** All connections of a pool at once. */
    private static List<String> states(DataSource pool, TestDatabase database) throws SQLException {
        List<Connection> all = new ArrayList<>();
        List<String> states = new ArrayList<>();
        try {
            for (int i = 0; i < PoolKind.SIZE; i++) {
                all.add(pool.getConnection());
            }
            for (Connection one : all) {
                states.add(state(one, database));
                if (!one.getAutoCommit()) {
                    one.rollback();
                }
            }
        } finally {
            for (Connection one : all) {
                one.close();
            }
        }
        return states;
    }

    private static String state(Connection connection, TestDatabase database) throws SQLException {
        String session = database == TestDatabase.POSTGRES
                ? "SELECT concat_ws(' ', current_setting('lock_timeout'), current_setting('enable_seqscan'),"
                        + " current_setting('idle_in_transaction_session_timeout'),"
                        + " current_setting('synchronous_commit'), current_setting('default_transaction_isolation'))"
                : "SELECT concat_ws(' ', @@innodb_lock_wait_timeout, @@transaction_isolation, @@autocommit"
                        + (MariaDbOrMysql.isMysql() ? ")" : ", @@idle_transaction_timeout)");
        return String.join(
                " ",
                "autocommit " + connection.getAutoCommit(),
                "isolation " + connection.getTransactionIsolation(),
                "read-only " + connection.isReadOnly(),
                "time-out " + connection.getNetworkTimeout(),
                TestSource.text(connection, session));
    }
}
