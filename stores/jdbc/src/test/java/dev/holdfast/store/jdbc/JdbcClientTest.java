package dev.holdfast.store.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.AcquisitionListener;
import dev.holdfast.Hold;
import dev.holdfast.Holdfast;
import dev.holdfast.HoldfastListener;
import dev.holdfast.servers.FaultProxy;
import dev.holdfast.servers.LocalSqlServer;
import dev.holdfast.servers.PostgresServer;
import dev.holdfast.servers.sql.MariaDbOrMysql;
import dev.holdfast.store.jdbc.server.DriverDataSource;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.IntSupplier;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

@DisplayName("Clients with locks on database servers")
@Tag("mysql")
@Tag("server")
@Tag("postgres")
class JdbcClientTest {

    /** The servers, a new one for each test. */
    enum Kind {
        POSTGRESQL,
        MARIADB;

        LocalSqlServer start() {
            return this == POSTGRESQL ? PostgresServer.start() : MariaDbOrMysql.start();
        }
    }

    @ParameterizedTest
    @EnumSource(Kind.class)
    @DisplayName("a pool of one connection, which is serializable and commits nothing by itself, is enough")
    void poolOfOne(Kind kind) throws Exception {
        try (LocalSqlServer server = kind.start();
                PoolOfOne pool = new PoolOfOne(server.url());
                Holdfast one = Holdfast.builder(JdbcStore.builder(pool).open()).build();
                Holdfast other =
                        Holdfast.builder(JdbcStore.builder(pool).open()).build()) {
            assertThat(Contention.of(List.of(one, other), 4, 25, "a", "b")).isEqualTo(200);
        }
    }

    @ParameterizedTest
    @EnumSource(Kind.class)
    @DisplayName("clients that contend leave no error in the log of the server")
    @Tag("smoke")
    void noErrors(Kind kind) throws Exception {
        try (LocalSqlServer server = kind.start();
                Holdfast one = client(server.url());
                Holdfast two = client(server.url());
                Holdfast three = client(server.url())) {
            assertThat(Contention.of(List.of(one, two, three), 4, 25, "a", "b", "c"))
                    .isEqualTo(300);
            // On an overloaded machine a command may wait for a row for so long that another lane takes over.
            assertThat(server.errors()).allMatch(line -> line.contains("lock timeout"));
        }
    }

    @ParameterizedTest
    @EnumSource(Kind.class)
    @DisplayName("what was granted outlives a crash of the server, and what waits goes on after it")
    void crash(Kind kind) throws Exception {
        try (LocalSqlServer server = kind.start();
                Holdfast one = client(server.url());
                Holdfast other = client(server.url())) {
            long token;
            Future<Hold> waiting;
            ExecutorService executor = Executors.newSingleThreadExecutor();
            try (Hold hold = one.lock("a").acquire()) {
                token = hold.fencingToken();
                waiting = executor.submit(() -> other.lock("a").acquire());
                server.kill();
                server.restart();
                assertThat(one.lock("b").tryLock(60, TimeUnit.SECONDS)).isTrue();
                assertThat(hold.isHeld()).isTrue();
                assertThat(waiting.isDone()).isFalse();
            }
            // The thread that acquired it has ended with its task by then, or does so on this signal.
            Hold next = waiting.get(60, TimeUnit.SECONDS);
            assertThat(next.fencingToken()).isGreaterThan(token);
            executor.submit(next::close).get(60, TimeUnit.SECONDS);
            executor.shutdown();
        }
    }

    @ParameterizedTest
    @EnumSource(Kind.class)
    @DisplayName("connections that break all the time give no lock to two, and lose none for good")
    void resets(Kind kind) throws Exception {
        Grants grants = new Grants();
        try (LocalSqlServer server = kind.start();
                FaultProxy proxy = FaultProxy.to(server.port());
                Holdfast one = client(server.url());
                Holdfast other = client(server.url().replace(":" + server.port(), ":" + proxy.port()), grants)) {
            ExecutorService executor = Executors.newSingleThreadExecutor();
            Future<Long> counted = executor.submit(() -> Contention.of(List.of(one, other), 3, 40, "a", "b"));
            assertThat(resettingUntilDone(counted, proxy, grants.count::get)).isEqualTo(240);
            executor.shutdown();
        }
    }

    /** The number of grants that a client was notified of. */
    private static final class Grants implements HoldfastListener {
        private final AtomicInteger count = new AtomicInteger();

        @Override
        public AcquisitionListener onRequested(AcquireRequest request) {
            return new AcquisitionListener() {
                @Override
                public void onGranted(long token, GrantSource source) {
                    count.incrementAndGet();
                }
            };
        }
    }

    /** The next reset comes after some progress since the last one, because on a slow machine there might be none. */
    private static long resettingUntilDone(Future<Long> result, FaultProxy proxy, IntSupplier done) throws Exception {
        int doneBefore = -1;
        while (true) {
            if (done.getAsInt() > doneBefore) {
                doneBefore = done.getAsInt();
                proxy.reset();
            }
            try {
                return result.get(40, TimeUnit.MILLISECONDS);
            } catch (TimeoutException stillRunning) {
                // And so have the faults.
            }
        }
    }

    private static Holdfast client(String url, HoldfastListener... listeners) {
        // Its holds outlast a long restart of the server, and a client that misses a notification polls within a
        // minute.
        Holdfast.Builder builder = Holdfast.builder(JdbcStore.builder(new DriverDataSource(url))
                        .keepsConnections()
                        .open())
                .sessionTtl(Duration.ofSeconds(40))
                .keepAliveEvery(Duration.ofSeconds(2))
                .storeTimeout(Duration.ofSeconds(60));
        List.of(listeners).forEach(builder::listener);
        return builder.build();
    }
}
