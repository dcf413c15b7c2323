package dev.holdfast.store.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import dev.holdfast.servers.MostlyWaits;
import dev.holdfast.servers.sql.TestClient;
import dev.holdfast.servers.sql.TestDatabase;
import dev.holdfast.servers.sql.TestSource;
import dev.holdfast.spi.CallerMode;
import dev.holdfast.spi.ClaimRef;
import dev.holdfast.spi.Command;
import dev.holdfast.spi.Command.Acquire;
import dev.holdfast.spi.Command.Audit;
import dev.holdfast.spi.Command.Release;
import dev.holdfast.spi.Command.Sending;
import dev.holdfast.spi.Command.Waiting;
import dev.holdfast.spi.Command.Withdraw;
import dev.holdfast.spi.Command.Yield;
import dev.holdfast.spi.Lease;
import dev.holdfast.spi.Reply;
import dev.holdfast.spi.ResourceSpec;
import dev.holdfast.spi.Signal;
import dev.holdfast.spi.StoreException;
import dev.holdfast.store.jdbc.server.IdlePolicy;
import dev.holdfast.store.jdbc.server.RowsBusyException;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.function.BiFunction;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

@DisplayName("While a transaction of somebody else keeps the row of one lock,")
@Tag("mysql")
@Tag("server")
class LockedNameTest {

    /** Names before, between and after the locked one, because transactions lock in the order of names. */
    private static final List<String> OTHERS = List.of("k", "m", "p");

    private static final String LOCKED = "l";

    /** The command about the locked name. */
    enum Asked {
        TAKE((client, grant) -> acquire(client, Waiting.TRY)),
        GIVE_BACK((client, grant) -> new Release(grant)),
        GIVE_BACK_AWAITED((client, grant) -> new Release(grant)),
        HAND_OVER((client, grant) -> new Yield(grant, acquire(client, Waiting.QUEUE))),
        QUEUE((client, grant) -> acquire(client, Waiting.QUEUE)),
        WITHDRAW((client, grant) -> new Withdraw(grant, Sending.REPEAT));

        private final BiFunction<TestClient, ClaimRef, Command> command;

        Asked(BiFunction<TestClient, ClaimRef, Command> command) {
            this.command = command;
        }

        boolean isHeld() {
            return this != TAKE;
        }

        boolean isAwaited() {
            return this == GIVE_BACK_AWAITED || this == HAND_OVER;
        }
    }

    private static Acquire acquire(TestClient client, Waiting waiting) {
        return new Acquire(client.ref(LOCKED), 0, Sending.FIRST, ResourceSpec.MUTEX, 1, Lease.SESSION, waiting, 1);
    }

    private static JdbcStore store(TestSource source) {
        return JdbcStore.builder(source).keepsConnections().open();
    }

    private static Connection lock(TestSource source, TestDatabase database, String... names) throws SQLException {
        Connection stranger = source.begin();
        for (String name : names) {
            String key = (database == TestDatabase.POSTGRES ? "'\\x%02x'" : "x'%02x'").formatted((int) name.charAt(0));
            assertThat(TestSource.text(
                            stranger, "SELECT claim FROM holdfast_resource WHERE name = " + key + " FOR UPDATE"))
                    .isNotEmpty();
        }
        return stranger;
    }

    /** The active wait for a row in the server; empty if there is none. */
    private static String wait(TestSource source, TestDatabase database) throws SQLException {
        return source.text(
                database == TestDatabase.POSTGRES
                        ? "SELECT string_agg(pid || ' since ' || query_start, ', ') FROM pg_stat_activity"
                                + " WHERE wait_event_type = 'Lock' AND datname = current_database()"
                        : "SELECT group_concat(CONCAT(trx_mysql_thread_id, ' since ', trx_wait_started))"
                                + " FROM information_schema.innodb_trx t JOIN information_schema.processlist p"
                                + " ON p.id = t.trx_mysql_thread_id WHERE trx_state = 'LOCK WAIT' AND p.db = database()");
    }

    @ParameterizedTest
    @CsvSource({
        "POSTGRES, TAKE",
        "POSTGRES, GIVE_BACK",
        "POSTGRES, GIVE_BACK_AWAITED",
        "POSTGRES, HAND_OVER",
        "POSTGRES, QUEUE",
        "POSTGRES, WITHDRAW",
        "MARIADB, TAKE",
        "MARIADB, GIVE_BACK_AWAITED",
        "MARIADB, QUEUE"
    })
    @DisplayName("the same client renews its session and goes on with all others during one and the same wait for it")
    void othersGoOn(TestDatabase database, Asked asked) throws Exception {
        TestSource source = new TestSource(database.newUrl());
        try (JdbcStore store = store(source)) {
            TestClient client = new TestClient(store);
            OTHERS.forEach(name -> client.release(granted(client, name)));
            ClaimRef grant = granted(client, LOCKED);
            if (asked.isAwaited()) {
                assertThat(client.acquire(client.ref(LOCKED))).isInstanceOf(Reply.Queued.class);
            } else if (!asked.isHeld()) {
                client.release(grant);
            }
            Command command = asked.command.apply(client, grant);
            try (Connection stranger = lock(source, database, LOCKED)) {
                CompletableFuture<Reply> pending =
                        store.execute(command, CallerMode.ASYNC).toCompletableFuture();
                Awaitility.await()
                        .pollInSameThread()
                        .atMost(60, TimeUnit.SECONDS)
                        .until(() -> {
                            String before = wait(source, database);
                            client.keepAlive();
                            sendBatch(client);
                            for (String name : OTHERS) {
                                client.release(granted(client, name));
                            }
                            assertThat(
                                            pending.isDone()
                                                    ? pending.handle((reply, e) -> reply + " " + e)
                                                            .join()
                                                    : "")
                                    .isEmpty();
                            return before != null && !before.isEmpty() && before.equals(wait(source, database));
                        });
                assertThat(pending).isNotDone();
                stranger.rollback();
                assertThat(pending.get(60, TimeUnit.SECONDS)).isNotNull();
            }
            if (asked == Asked.TAKE) {
                assertThat(client.send(command)).isInstanceOf(Reply.Granted.class);
            }
        }
    }

    @CanIgnoreReturnValue
    private static ClaimRef granted(TestClient client, String name) {
        ClaimRef claim = client.ref(name);
        assertThat(client.acquire(claim)).isInstanceOf(Reply.Granted.class);
        return claim;
    }

    /** Claims all other names at once, which is one transaction. */
    private static void sendBatch(TestClient client) throws Exception {
        List<ClaimRef> claims = new ArrayList<>();
        List<CompletableFuture<Reply>> sent = new ArrayList<>();
        for (String name : OTHERS) {
            ClaimRef claim = client.ref(name);
            claims.add(claim);
            sent.add(client.store
                    .execute(
                            new Acquire(claim, 0, Sending.FIRST, ResourceSpec.MUTEX, 1, Lease.SESSION, Waiting.TRY, 1),
                            CallerMode.ASYNC)
                    .toCompletableFuture());
        }
        for (CompletableFuture<Reply> one : sent) {
            assertThat(one.get(60, TimeUnit.SECONDS)).isInstanceOf(Reply.Granted.class);
        }
        claims.forEach(client::release);
    }

    @ParameterizedTest
    @EnumSource(names = {"POSTGRES", "MARIADB"})
    @DisplayName("who came together with it is answered, and what turns out to be about it fails alone")
    void togetherWithIt(TestDatabase database) throws Exception {
        TestSource source = new TestSource(database.newUrl());
        try (JdbcStore store = store(source)) {
            TestClient client = new TestClient(store);
            granted(client, LOCKED);
            assertThat(client.acquire(client.ref(LOCKED))).isInstanceOf(Reply.Queued.class);
            OTHERS.forEach(name -> client.release(granted(client, name)));
            try (Connection stranger = lock(source, database, LOCKED)) {
                List<CompletableFuture<Reply>> kept = new ArrayList<>();
                for (int i = 0; i < 3; i++) {
                    // It finds a claim that waits for the locked one.
                    kept.add(store.execute(new Audit(client.session, Optional.empty(), 100), CallerMode.ASYNC)
                            .toCompletableFuture());
                    kept.add(store.execute(acquire(client, Waiting.QUEUE), CallerMode.ASYNC)
                            .toCompletableFuture());
                    sendBatch(client);
                }
                stranger.rollback();
                for (CompletableFuture<Reply> one : kept) {
                    // The only permitted failure is that of the row, after the maximum wait.
                    assertThat(one.handle((reply, e) -> e == null || RowsBusyException.areCauseOf(e) ? null : e)
                                    .get(60, TimeUnit.SECONDS))
                            .isNull();
                }
            }
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"POSTGRES", "MARIADB"})
    @MostlyWaits
    @DisplayName(
            "closing the session gives back all others to those who wait for them, and says that it is not through")
    void closing(TestDatabase database) throws Exception {
        TestSource source = new TestSource(database.newUrl());
        Set<String> notified = ConcurrentHashMap.newKeySet();
        try (JdbcStore store = store(source);
                JdbcStore other = store(source)) {
            TestClient client = new TestClient(store);
            TestClient waiter = new TestClient(other);
            other.subscribe(signal -> {
                if (signal instanceof Signal.Granted granted) {
                    notified.add(granted.claim().resource().value());
                } else if (signal instanceof Signal.Changed changed) {
                    notified.add(changed.claim().resource().value());
                }
            });
            List<String> names = new ArrayList<>(OTHERS);
            names.add(LOCKED);
            names.forEach(name -> granted(client, name));
            names.forEach(name -> assertThat(waiter.acquire(waiter.ref(name))).isInstanceOf(Reply.Queued.class));
            try (Connection stranger = lock(source, database, LOCKED)) {
                try {
                    client.close();
                } catch (StoreException e) {
                    assertThat(e.reason()).isEqualTo(StoreException.Reason.UNAVAILABLE);
                    assertThat(e).hasMessageContaining("'" + LOCKED + "'");
                }
                Awaitility.await().atMost(60, TimeUnit.SECONDS).until(() -> notified.containsAll(OTHERS));
                assertThat(notified).doesNotContain(LOCKED);
                stranger.rollback();
            }
            client.close();
            Awaitility.await().atMost(60, TimeUnit.SECONDS).until(() -> notified.contains(LOCKED));
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"POSTGRES", "MARIADB"})
    @DisplayName("cleaning drops all others that are due, and that one later")
    void cleaning(TestDatabase database) throws Exception {
        TestSource source = new TestSource(database.newUrl());
        String rows = "SELECT count(*) FROM holdfast_resource";
        try (JdbcStore store = store(source)) {
            TestClient client = new TestClient(store);
            OTHERS.forEach(name -> client.release(granted(client, name)));
            client.release(granted(client, LOCKED));
            IdlePolicy soon = IdlePolicy.USUAL.with("*", Duration.ofMinutes(1));
            source.execute("UPDATE holdfast_resource SET last_token = 1", "UPDATE holdfast_meta SET token_floor = 2");
            try (Connection stranger = lock(source, database, LOCKED)) {
                store.housekeeping().run(soon);
                assertThat(source.text(rows)).isEqualTo("1");
                stranger.rollback();
            }
            store.housekeeping().run(soon);
            assertThat(source.text(rows)).isEqualTo("0");
        }
    }
}
