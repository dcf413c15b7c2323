package dev.holdfast.store.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.Holdfast;
import dev.holdfast.HoldfastException;
import dev.holdfast.servers.MostlyWaits;
import dev.holdfast.servers.sql.MariaDbOrMysql;
import dev.holdfast.servers.sql.TestDatabase;
import dev.holdfast.servers.sql.TestSource;
import dev.holdfast.sql.database.ConnectionDisposal;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import javax.sql.DataSource;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

@DisplayName("A connection of a pool that is of no use any more")
@Tag("mysql")
@Tag("server")
@Tag("postgres")
class EvictedConnectionsTest {

    private static final String TRANSACTIONS_UNDER_WAY = MariaDbOrMysql.isMysql()
            ? "SELECT count(*) FROM information_schema.innodb_trx WHERE trx_mysql_thread_id = connection_id()"
            : "SELECT @@in_transaction";

    static Stream<Arguments> pools() {
        return LentConnectionsTest.pools();
    }

    @ParameterizedTest
    @MethodSource("pools")
    @DisplayName("is not lent to anyone again, whichever pool it is of")
    void isNotLentAgain(TestDatabase database, PoolKind kind) throws Exception {
        try (PoolKind.Pool pool = kind.make(database.newUrl())) {
            for (Connection connection : all(pool)) {
                ConnectionDisposal.discard(connection);
            }
            List<Connection> fresh = all(pool);
            for (Connection connection : fresh) {
                try (Statement statement = connection.createStatement()) {
                    assertThat(statement.execute("SELECT 1")).isTrue();
                }
                connection.close();
            }
        }
    }

    @Test
    @MostlyWaits
    @DisplayName("is not lent to the program with a transaction under way that could not be undone")
    void aTransactionThatCanNotBeUndone() throws Exception {
        AtomicBoolean isBroken = new AtomicBoolean();
        AtomicInteger failures = new AtomicInteger();
        try (PoolKind.Pool pool = PoolKind.DBCP2.make(TestDatabase.MARIADB.newUrl())) {
            DataSource breaking = (DataSource) proxy(DataSource.class, pool.source(), (method, arguments, result) -> {
                if (!(result instanceof Connection lent)) {
                    return result;
                }
                return proxy(Connection.class, lent, (name, values, made) -> {
                    if (name.equals("prepareStatement")
                            && isBroken.get()
                            && !String.valueOf(values[0]).startsWith("START TRANSACTION")) {
                        failures.incrementAndGet();
                        throw new SQLException("a failure with no reason", "HY000", 1105);
                    }
                    return made;
                });
            });
            try (JdbcStore store = JdbcStore.builder(breaking).open();
                    Holdfast client = Holdfast.builder(store).build()) {
                client.lock("warm").acquire().close();
                Set<String> before = sessions(pool);
                isBroken.set(true);
                assertThatThrownBy(() -> client.latch("a").trySetCount(2)).isInstanceOf(HoldfastException.class);
                isBroken.set(false);
                assertThat(failures).hasPositiveValue();
                assertThat(sessions(pool)).as("one was replaced").isNotEqualTo(before);
            }
            for (Connection connection : all(pool)) {
                assertThat(TestSource.text(connection, TRANSACTIONS_UNDER_WAY)).isEqualTo("0");
                connection.close();
            }
        }
    }

    private static Set<String> sessions(PoolKind.Pool pool) throws Exception {
        Set<String> ids = new HashSet<>();
        for (Connection connection : all(pool)) {
            ids.add(TestSource.text(connection, "SELECT connection_id()"));
            connection.rollback();
            connection.close();
        }
        return ids;
    }

    /** Decides the result of a call. */
    private interface Call {
        Object made(String method, Object[] arguments, Object result) throws SQLException;
    }

    private static Object proxy(Class<?> type, Object real, Call call) {
        return Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type}, (proxy, method, arguments) -> {
            try {
                return call.made(method.getName(), arguments, method.invoke(real, arguments));
            } catch (InvocationTargetException e) {
                throw e.getCause();
            }
        });
    }

    private static List<Connection> all(PoolKind.Pool pool) throws Exception {
        List<Connection> all = new ArrayList<>();
        for (int i = 0; i < PoolKind.SIZE; i++) {
            all.add(pool.source().getConnection());
        }
        return all;
    }
}
