package dev.holdfast.store.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.holdfast.Holdfast;
import dev.holdfast.servers.LocalSqlServer;
import dev.holdfast.servers.MostlyWaits;
import dev.holdfast.servers.PostgresServer;
import dev.holdfast.servers.UnansweredCalls;
import dev.holdfast.servers.sql.MariaDbOrMysql;
import dev.holdfast.servers.sql.TestDatabase;
import dev.holdfast.servers.sql.TestSource;
import dev.holdfast.spi.LockStore;
import dev.holdfast.spi.StoreException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@DisplayName("Calls end in time while a database does not answer")
@Tag("C15")
@Tag("mysql")
@Tag("postgres")
@Tag("server")
@Timeout(value = 10, unit = TimeUnit.MINUTES)
class UnansweredWaitTest {

    private static HikariDataSource pool(String url) {
        HikariConfig config = new HikariConfig();
        config.setJdbcUrl(url);
        config.setMaximumPoolSize(4);
        config.setConnectionTimeout(UnansweredCalls.LONG_WAIT.toMillis());
        config.setValidationTimeout(UnansweredCalls.LONG_WAIT.toMillis());
        return new HikariDataSource(config);
    }

    private static LocalSqlServer start(TestDatabase database) {
        return database == TestDatabase.POSTGRES ? PostgresServer.start() : MariaDbOrMysql.start();
    }

    @OnEachServer
    @MostlyWaits
    @DisplayName("since the program keeps all connections of its pool")
    void exhaustedPool(TestDatabase database) throws Exception {
        List<Connection> kept = new ArrayList<>();
        try (HikariDataSource pool = pool(database.newUrl());
                LockStore store = JdbcStore.builder(pool).open()) {
            UnansweredCalls.endInTime(
                    Holdfast.builder(store),
                    () -> {
                        for (int i = 0; i < pool.getMaximumPoolSize(); i++) {
                            kept.add(pool.getConnection());
                        }
                    },
                    () -> {
                        for (Connection one : kept) {
                            one.close();
                        }
                    });
        }
    }

    @OnEachServer
    @MostlyWaits
    @DisplayName("since its server stands still, with a pool")
    void stoppedServerBehindAPool(TestDatabase database) throws Exception {
        try (LocalSqlServer server = start(database);
                HikariDataSource pool = pool(server.newDatabase());
                LockStore store = JdbcStore.builder(pool).open()) {
            UnansweredCalls.endInTime(Holdfast.builder(store), server.process()::pause, server.process()::resume);
        }
    }

    @OnEachServer
    @MostlyWaits
    @DisplayName("since its server stands still, with connections of the store's own")
    void stoppedServer(TestDatabase database) throws Exception {
        try (LocalSqlServer server = start(database);
                LockStore store = JdbcStore.builder(new TestSource(server.newDatabase()))
                        .keepsConnections()
                        .open()) {
            UnansweredCalls.endInTime(Holdfast.builder(store), server.process()::pause, server.process()::resume);
        }
    }

    @OnEachServer
    @DisplayName("no thread of the program asks for a connection once the store is open")
    void threadsOfTheProgramMakeNoTrips(TestDatabase database) throws Exception {
        Set<Thread> asking = ConcurrentHashMap.newKeySet();
        TestSource source = new TestSource(database.newUrl()) {
            @Override
            public Connection getConnection() throws SQLException {
                asking.add(Thread.currentThread());
                return super.getConnection();
            }
        };
        try (LockStore store = JdbcStore.builder(source).open()) {
            asking.clear();
            try (Holdfast client = Holdfast.builder(store).build()) {
                client.lock("order").acquire(UnansweredCalls.IN_TIME).close();
                assertThat(client.latch("ready").trySetCount(1)).isTrue();
                assertThat(client.latch("ready").countDown()).isZero();
            }
            assertThat(asking).isNotEmpty().doesNotContain(Thread.currentThread());
        }
    }

    @Test
    @MostlyWaits
    @DisplayName("opening a client of a server that says nothing ends in time")
    void silentServer() throws Exception {
        try (ServerSocket silent = new ServerSocket(0, 50, InetAddress.getLoopbackAddress())) {
            Holdfast.Builder builder = Holdfast.builder("postgresql://nobody@127.0.0.1:" + silent.getLocalPort()
                            + "/none?sslmode=disable&timeout=" + UnansweredCalls.LONG_WAIT)
                    .storeTimeout(Duration.ofSeconds(2));

            UnansweredCalls.endsInTime(builder::build);
            UnansweredCalls.endsInTime(builder::buildAsync);
        }
    }

    @Test
    @MostlyWaits
    @DisplayName("opening a store ends in time while the program keeps all connections of its pool")
    void openingWithAnExhaustedPool() throws Exception {
        try (HikariDataSource pool = pool(TestDatabase.POSTGRES.newUrl())) {
            pool.setMaximumPoolSize(1);
            JdbcStore.Builder builder = JdbcStore.builder(pool).openTimeout(Duration.ofSeconds(2));
            long began = System.nanoTime();
            try (Connection kept = pool.getConnection()) {
                assertThat(kept.isClosed()).isFalse();
                assertThatThrownBy(builder::open)
                        .isInstanceOf(StoreException.class)
                        .hasMessageContaining("2 s");
            }
            assertThat(Duration.ofNanos(System.nanoTime() - began)).isLessThan(UnansweredCalls.IN_TIME);
            // The store that opened too late has returned its connection.
            builder.openTimeout(UnansweredCalls.IN_TIME).open().close();
        }
    }
}
