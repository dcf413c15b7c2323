package dev.holdfast.store.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.holdfast.Hold;
import dev.holdfast.Holdfast;
import dev.holdfast.StoreUnavailableException;
import dev.holdfast.servers.MostlyWaits;
import dev.holdfast.servers.PostgresServer;
import dev.holdfast.servers.sql.StatementLog;
import dev.holdfast.servers.sql.TestDatabase;
import dev.holdfast.servers.sql.TestSource;
import dev.holdfast.spi.StoreException;
import dev.holdfast.spi.StoreUri;
import dev.holdfast.sql.database.UnproxiedDataSource;
import dev.holdfast.sql.rows.RowTables;
import dev.holdfast.store.jdbc.postgres.PostgresProduct;
import dev.holdfast.store.jdbc.server.DriverDataSource;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.SQLTransientException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import javax.sql.DataSource;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DataSourceTransactionManager;
import org.springframework.jdbc.datasource.DelegatingDataSource;
import org.springframework.jdbc.datasource.LazyConnectionDataSourceProxy;
import org.springframework.jdbc.datasource.TransactionAwareDataSourceProxy;
import org.springframework.transaction.support.TransactionTemplate;

@DisplayName("Locks with a data source of the program's")
@Tag("mysql")
@Tag("server")
@Tag("postgres")
class DataSourceKindsTest {

    private static HikariDataSource pool(DataSource source, int size) {
        return pool(source, size, new HikariConfig());
    }

    private static HikariDataSource pool(DataSource source, int size, HikariConfig config) {
        config.setDataSource(source);
        config.setMaximumPoolSize(size);
        config.setMinimumIdle(0);
        return new HikariDataSource(config);
    }

    @ParameterizedTest
    @EnumSource(names = {"POSTGRES", "MARIADB"})
    @DisplayName("never take part in a transaction of it, whatever proxies are around the pool")
    void proxies(TestDatabase database) {
        TestSource source = new TestSource(database.newUrl());
        try (HikariDataSource pool = pool(source, 6)) {
            for (DataSource proxied : List.of(
                    new TransactionAwareDataSourceProxy(pool),
                    new LazyConnectionDataSourceProxy(pool),
                    new TransactionAwareDataSourceProxy(new LazyConnectionDataSourceProxy(pool)),
                    new DelegatingDataSource(new TransactionAwareDataSourceProxy(pool)))) {
                assertThat(UnproxiedDataSource.of(proxied)).isSameAs(pool);
                TransactionTemplate transactions = new TransactionTemplate(new DataSourceTransactionManager(pool));
                List<Hold> holds = new ArrayList<>();
                try (Holdfast one = Holdfast.builder(JdbcStore.builder(proxied).open())
                                .build();
                        Holdfast other =
                                Holdfast.builder(JdbcStore.builder(pool).open()).build()) {
                    transactions.executeWithoutResult(status -> {
                        new JdbcTemplate(proxied).execute("CREATE TABLE undone (n INT)");
                        holds.add(one.lock("a").tryAcquire().orElseThrow());
                        // The lock is visible to others before this transaction ends.
                        assertThat(other.lock("a").tryLock()).isFalse();
                        status.setRollbackOnly();
                    });
                    assertThat(other.lock("a").tryLock()).isFalse();
                    assertThat(holds.get(0).isHeld()).isTrue();
                    holds.get(0).close();
                    assertThat(other.lock("a").tryLock()).isTrue();
                }
                new JdbcTemplate(pool).execute("DROP TABLE IF EXISTS undone");
            }
        }
    }

    @Test
    @DisplayName("are refused a proxy with nothing behind it; anything else is taken as it is")
    void nothingBehind() throws SQLException {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> UnproxiedDataSource.of(new TransactionAwareDataSourceProxy()));
        TestSource plain = new TestSource("jdbc:none:");
        assertThat(UnproxiedDataSource.of(plain)).isSameAs(plain);
        DelegatingDataSource delegating = new DelegatingDataSource(plain);
        assertThat(UnproxiedDataSource.of(delegating)).isSameAs(delegating);
    }

    @ParameterizedTest
    @EnumSource(names = {"POSTGRES", "MARIADB"})
    @DisplayName("make tables and versions in a transaction of their own, too")
    void rowTables(TestDatabase database) {
        TestSource source = new TestSource(database.newUrl());
        try (HikariDataSource pool = pool(source, 3)) {
            DataSource proxied = new TransactionAwareDataSourceProxy(pool);
            new TransactionTemplate(new DataSourceTransactionManager(pool)).executeWithoutResult(status -> {
                try {
                    RowTables.usual().createIfMissing(proxied);
                } catch (SQLException e) {
                    throw new IllegalStateException(e);
                }
                status.setRollbackOnly();
            });
            assertThat(new JdbcTemplate(pool).queryForObject("SELECT count(*) FROM holdfast_fence", Integer.class))
                    .isZero();
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"POSTGRES", "MARIADB"})
    @DisplayName("ask a connection of a pool that sets them back for its isolation once, and any other each time")
    void isolation(TestDatabase database) throws Exception {
        StatementLog log = new StatementLog(database.newUrl());
        try (HikariDataSource pool = pool(log, 2)) {
            assertThat(askedInFurtherTrips(pool, log)).isZero();
        }
        assertThat(askedInFurtherTrips(log, log)).isGreaterThan(4);
    }

    private static long askedInFurtherTrips(DataSource source, StatementLog log) throws InterruptedException {
        try (Holdfast client =
                Holdfast.builder(JdbcStore.builder(source).open()).build()) {
            long[] asked = new long[2];
            for (int part = 0; part < 2; part++) {
                for (int i = 0; i < 4; i++) {
                    client.lock("a").acquire().close();
                }
                asked[part] = log.said().stream()
                        .filter("getTransactionIsolation"::equals)
                        .count();
            }
            return asked[1] - asked[0];
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"POSTGRES", "MARIADB"})
    @DisplayName(
            "are right in a pool whose connections come serializable and without autocommit, and set back nothing for others")
    void serializable(TestDatabase database) throws Exception {
        TestSource source = new TestSource(database.newUrl());
        HikariConfig config = new HikariConfig();
        config.setAutoCommit(false);
        config.setTransactionIsolation("TRANSACTION_SERIALIZABLE");
        try (HikariDataSource pool = pool(source, 4, config)) {
            try (Holdfast one = Holdfast.builder(JdbcStore.builder(pool).open()).build();
                    Holdfast other =
                            Holdfast.builder(JdbcStore.builder(pool).open()).build()) {
                assertThat(Contention.of(List.of(one, other), 3, 15, "a", "b")).isEqualTo(90);
            }
            try (Connection connection = pool.getConnection()) {
                assertThat(connection.getAutoCommit()).isFalse();
                assertThat(connection.getTransactionIsolation()).isEqualTo(Connection.TRANSACTION_SERIALIZABLE);
            }
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"POSTGRES", "MARIADB"})
    @MostlyWaits
    @DisplayName(
            "fail in time while the program keeps all connections of its pool, lose nothing by that, and go on after it")
    void exhausted(TestDatabase database) throws Exception {
        TestSource source = new TestSource(database.newUrl());
        HikariConfig config = new HikariConfig();
        config.setConnectionTimeout(250);
        try (HikariDataSource pool = pool(source, 2, config);
                Holdfast own = Holdfast.builder(JdbcStore.builder(new DriverDataSource(source.url()))
                                .keepsConnections()
                                .open())
                        .build();
                JdbcStore store = persistently(() -> JdbcStore.builder(pool).open());
                Holdfast client = persistently(() -> Holdfast.builder(store)
                        .sessionTtl(Duration.ofMinutes(2))
                        .storeTimeout(Duration.ofSeconds(4))
                        .build());
                Hold hold = persistently(() -> client.lock("held").tryAcquire()).orElseThrow()) {
            try (Connection one = persistently(pool::getConnection);
                    Connection other = persistently(pool::getConnection)) {
                assertThat(one.isValid(0) && other.isValid(0)).isTrue();
                Awaitility.await()
                        .pollInSameThread()
                        .atMost(60, TimeUnit.SECONDS)
                        .untilAsserted(
                                () -> assertThatThrownBy(() -> client.lock("a").tryAcquire())
                                        .isInstanceOf(StoreUnavailableException.class)
                                        .hasStackTraceContaining("Connection is not available"));
                assertThat(hold.isHeld()).isTrue();
                // A store with its own connections is not affected.
                own.lock("a").acquire().close();
            }
            persistently(() -> client.lock("a").tryAcquire()).orElseThrow().close();
            assertThat(hold.isHeld()).isTrue();
        }
    }

    /** Retries if the database took too long for short time-outs. */
    private static <T> T persistently(Callable<T> request) {
        return Awaitility.await()
                .pollInSameThread()
                .atMost(60, TimeUnit.SECONDS)
                .ignoreExceptionsMatching(e -> e instanceof StoreUnavailableException
                        || e instanceof SQLTransientException
                        || e instanceof StoreException failed && failed.reason() == StoreException.Reason.UNAVAILABLE)
                .until(request, unused -> true);
    }

    @Test
    @DisplayName("work through a pooler that gives each transaction another connection, if the driver is told so")
    void transactionPooler() throws Exception {
        try (PostgresServer server = PostgresServer.start();
                TransactionPooler pooler = new TransactionPooler(server.port(), "postgres", "postgres", 4)) {
            String uri = "postgresql://postgres@127.0.0.1:" + pooler.port() + "/postgres?sslmode=disable";
            try (Holdfast one = Holdfast.connect(uri + "&pooler=transaction");
                    Holdfast other = Holdfast.connect(uri + "&pooler=transaction")) {
                int before = pooler.transactions();
                for (int name = 0; name < 60; name++) {
                    one.lock("name-" + name).acquire().close();
                }
                // However commands are batched, the first grant of a name comes from the server.
                assertThat(pooler.transactions() - before).isGreaterThanOrEqualTo(60);
                assertThat(Contention.of(List.of(one, other), 3, 25, "a", "b")).isEqualTo(150);
            }
            // On an overloaded machine a command may wait for a row for so long that another lane takes over.
            assertThat(server.errors()).allMatch(line -> line.contains("lock timeout"));
        }
    }

    @Test
    @DisplayName("say what is to be done where such a pooler is in the way and nobody said so")
    void transactionPoolerUnannounced() {
        PostgresProduct product = new PostgresProduct("PostgreSQL", PostgresProduct.CLOCK, "holdfast_", true);
        for (String state : List.of("26000", "42P05")) {
            StoreException exception = product.translated(new SQLException("S_1", state), StoreException.Effect.NONE);
            assertThat(exception.reason()).isEqualTo(StoreException.Reason.DENIED);
            assertThat(exception).hasMessageContainingAll("pooler=transaction", "prepareThreshold=0", "S_1");
        }
    }

    @Test
    @DisplayName("refuse another word for such a pooler, and one where there is no need for it")
    void poolerParameter() {
        for (String uri : List.of(
                "postgresql://h/d?pooler=session", "mysql://h/d?pooler=transaction", "mariadb://h/d?pooler=x")) {
            assertThatIllegalArgumentException().as(uri).isThrownBy(() -> DatabaseUris.builder(StoreUri.parse(uri)));
        }
    }
}
