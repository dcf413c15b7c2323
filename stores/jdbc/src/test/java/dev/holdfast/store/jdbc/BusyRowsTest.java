package dev.holdfast.store.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import dev.holdfast.Hold;
import dev.holdfast.Holdfast;
import dev.holdfast.servers.LocalSqlServer;
import dev.holdfast.servers.PostgresServer;
import dev.holdfast.servers.sql.MariaDbOrMysql;
import dev.holdfast.servers.sql.Meanwhile;
import dev.holdfast.servers.sql.TestSource;
import dev.holdfast.spi.CallerMode;
import dev.holdfast.spi.ClaimRef;
import dev.holdfast.spi.Command;
import dev.holdfast.spi.Command.Sending;
import dev.holdfast.spi.Command.Waiting;
import dev.holdfast.spi.Lease;
import dev.holdfast.spi.LockStore;
import dev.holdfast.spi.Reply;
import dev.holdfast.spi.ResourceName;
import dev.holdfast.spi.ResourceSpec;
import dev.holdfast.spi.SessionId;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.BooleanSupplier;
import javax.sql.DataSource;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

@DisplayName("Rows that a transaction of somebody else keeps locked")
@Tag("mysql")
@Tag("server")
@Tag("postgres")
class BusyRowsTest {

    private static final Duration LIMIT = Duration.ofSeconds(60);

    /** The servers, and the origin of the connections. */
    enum Kind {
        POSTGRESQL(false),
        POSTGRESQL_LENT(true),
        MARIADB(false),
        MARIADB_LENT(true);

        private final boolean isLent;

        Kind(boolean isLent) {
            this.isLent = isLent;
        }

        boolean isPostgres() {
            return this == POSTGRESQL || this == POSTGRESQL_LENT;
        }

        LocalSqlServer start() {
            return isPostgres() ? PostgresServer.start() : MariaDbOrMysql.start();
        }

        Holdfast client(DataSource source) {
            JdbcStore.Builder builder = JdbcStore.builder(source);
            return Holdfast.builder((isLent ? builder : builder.keepsConnections()).open())
                    .storeTimeout(Duration.ofSeconds(60))
                    .build();
        }
    }

    @ParameterizedTest
    @EnumSource(Kind.class)
    @DisplayName("keep up the lock that they are of, and no other")
    void othersGoOn(Kind kind) throws Exception {
        try (LocalSqlServer server = kind.start();
                Holdfast client = kind.client(new TestSource(server.url()));
                Connection stranger = server.connect()) {
            try (Hold hold = client.lock("a").acquire()) {
                assertThat(hold.isHeld()).isTrue();
            }
            stranger.setAutoCommit(false);
            String name = kind.isPostgres() ? "'\\x61'" : "x'61'";
            assertThat(TestSource.text(
                            stranger, "SELECT waiters FROM holdfast_resource WHERE name = " + name + " FOR UPDATE"))
                    .isEqualTo("0");
            CompletableFuture<Long> waiting = Meanwhile.run(() -> {
                try (Hold hold = client.lock("a").acquire()) {
                    return hold.fencingToken();
                }
            });
            long token = 0;
            for (int i = 0; i < 50; i++) {
                try (Hold hold = client.lock("b" + i % 3).acquire(LIMIT)) {
                    token = Math.max(token, hold.fencingToken());
                }
            }
            assertThat(waiting).isNotDone();
            stranger.rollback();
            assertThat(waiting.join()).isPositive();
        }
    }

    @ParameterizedTest
    @EnumSource(Kind.class)
    @DisplayName("keep up nobody who waits for another lock")
    void otherWaitersGoOn(Kind kind) throws Exception {
        try (LocalSqlServer server = kind.start();
                Holdfast holder = kind.client(new TestSource(server.url()));
                Holdfast client = kind.client(new TestSource(server.url()));
                Connection stranger = server.connect()) {
            Hold first = holder.lock("a").acquire();
            Hold second = holder.lock("b").acquire();
            CompletableFuture<Boolean> one = wait(client, "a");
            CompletableFuture<Boolean> other = wait(client, "b");
            until(() -> number(server, "SELECT count(*) FROM holdfast_claim WHERE granted = 0") == 2);
            stranger.setAutoCommit(false);
            String name = kind.isPostgres() ? "'\\x61'" : "x'61'";
            TestSource.execute(stranger, "SELECT name FROM holdfast_resource WHERE name = " + name + " FOR UPDATE");
            second.close();
            assertThat(other.join()).isTrue();
            assertThat(one).isNotDone();
            stranger.rollback();
            first.close();
            assertThat(one.join()).isTrue();
        }
    }

    @Test
    @DisplayName("keep a session from being closed until they are free, and no longer")
    void aSessionIsClosedAfterAll() throws Exception {
        try (PostgresServer server = PostgresServer.start();
                JdbcStore store = JdbcStore.builder(new TestSource(server.url()))
                        .keepsConnections()
                        .open();
                Connection stranger = server.connect()) {
            SessionId first = send(store, new Command.OpenSession(LIMIT, "first", 0), Reply.SessionOpened.class)
                    .session();
            SessionId next = send(store, new Command.OpenSession(LIMIT, "next", 0), Reply.SessionOpened.class)
                    .session();
            send(store, acquire(first), Reply.Granted.class);
            send(store, acquire(next), Reply.Queued.class);
            stranger.setAutoCommit(false);
            TestSource.execute(stranger, "SELECT name FROM holdfast_resource WHERE name = '\\x61' FOR UPDATE");
            CompletionStage<Reply> closing = store.execute(new Command.CloseSession(first), CallerMode.BLOCKING);
            String waits = "SELECT count(*) FROM pg_locks WHERE NOT granted";
            until(() -> number(server, waits) > 0);
            until(() -> number(server, waits) == 0); // the first attempt has timed out
            stranger.rollback();
            assertThat(closing.toCompletableFuture().join()).isInstanceOf(Reply.Done.class);
            send(store, acquire(next), Reply.Granted.class);
        }
    }

    private static Command acquire(SessionId session) {
        ClaimRef claim = new ClaimRef(new ResourceName("a"), session, 1);
        return new Command.Acquire(claim, 0, Sending.FIRST, ResourceSpec.MUTEX, 1, Lease.SESSION, Waiting.QUEUE, 1);
    }

    @CanIgnoreReturnValue
    private static <R extends Reply> R send(LockStore store, Command command, Class<R> expected) {
        return expected.cast(store.execute(command, CallerMode.BLOCKING)
                .toCompletableFuture()
                .join());
    }

    private static CompletableFuture<Boolean> wait(Holdfast client, String name) {
        return Meanwhile.run(() -> {
            try (Hold hold = client.lock(name).acquire()) {
                return hold.isHeld();
            }
        });
    }

    private static long number(LocalSqlServer server, String query) {
        try (Connection connection = server.connect()) {
            return Long.parseLong(TestSource.text(connection, query));
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
    }

    private static void until(BooleanSupplier condition) {
        long deadline = System.nanoTime() + Duration.ofSeconds(60).toNanos();
        while (!condition.getAsBoolean()) {
            assertThat(System.nanoTime() - deadline).isNegative();
            Thread.onSpinWait();
        }
    }

    @ParameterizedTest
    @EnumSource(
            value = Kind.class,
            names = {"POSTGRESQL_LENT", "MARIADB_LENT"})
    @DisplayName("are not waited for long, and lent connections go back as they came")
    void lentConnections(Kind kind) throws Exception {
        String setting = kind.isPostgres() ? "SHOW lock_timeout" : "SELECT @@SESSION.innodb_lock_wait_timeout";
        try (LocalSqlServer server = kind.start();
                PoolOfOne pool = new PoolOfOne(server.url())) {
            String before;
            try (Connection connection = pool.getConnection()) {
                TestSource.execute(
                        connection,
                        kind.isPostgres() ? "SET lock_timeout = '7s'" : "SET SESSION innodb_lock_wait_timeout = 7");
                connection.commit();
                before = TestSource.text(connection, setting);
            }
            try (Holdfast one = kind.client(pool);
                    Holdfast other = kind.client(pool)) {
                try (Hold hold = one.lock("a").acquire()) {
                    CompletableFuture<Boolean> next = Meanwhile.run(() -> {
                        try (Hold second = other.lock("a").acquire()) {
                            return second.isHeld();
                        }
                    });
                    assertThat(hold.isHeld()).isTrue();
                    hold.close();
                    assertThat(next.join()).isTrue();
                }
            }
            try (Connection connection = pool.getConnection()) {
                assertThat(TestSource.text(connection, setting)).isEqualTo(before);
            }
        }
    }
}
