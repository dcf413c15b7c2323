package dev.holdfast.store.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.servers.PostgresServer;
import dev.holdfast.servers.sql.Meanwhile;
import dev.holdfast.servers.sql.StatementLog;
import dev.holdfast.servers.sql.TestSource;
import dev.holdfast.spi.Command;
import dev.holdfast.spi.Reply;
import dev.holdfast.spi.SessionId;
import dev.holdfast.store.jdbc.postgres.PostgresProduct;
import dev.holdfast.store.ledger.table.SessionRow;
import java.sql.Connection;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@DisplayName("On PostgreSQL a hand-over")
@Tag("server")
@Tag("postgres")
class PostgresHandOverTest extends HandOverRules {

    /** A clock that a test can block, with a lock that it waits for. */
    private static final String GATED = "CREATE FUNCTION gated() RETURNS bigint LANGUAGE plpgsql AS $$ BEGIN"
            + " PERFORM pg_advisory_xact_lock_shared(7); RETURN " + PostgresProduct.CLOCK + "; END $$";

    PostgresHandOverTest() {
        super(PostgresServer.shared().newDatabase());
    }

    private static JdbcStore openGated(TestSource source) {
        return JdbcStore.builder(source).keepsConnections().clock("gated()").open();
    }

    @Test
    @DisplayName("is one statement on a lent connection too")
    void lent() throws Exception {
        tellsTheNext(JdbcStore.builder(log));
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    @DisplayName("goes by no queue that has changed since it began, nor does who begins to wait")
    void queueChangesMeanwhile(boolean isHeld) throws Exception {
        log.execute(GATED);
        try (JdbcStore store = openGated(log);
                Connection stranger = log.begin()) {
            SessionId first = session(store);
            SessionId second = session(store);
            assertThat(answer(store, acquire(first, 1), Reply.Granted.class)).isNotNull();
            assertThat(answer(store, acquire(second, 1), Reply.Queued.class)).isNotNull();
            TestSource.execute(stranger, "SELECT pg_advisory_xact_lock(7)");
            Command command = isHeld ? giveWay(first, 1, 2) : acquire(first, 2);
            CompletableFuture<Reply> behind = Meanwhile.run(() -> answer(store, command, Reply.class));
            awaitWaiting("wait_event = 'advisory'");
            // Its claim was sent once more over another connection, and arrived there first.
            TestSource.execute(
                    stranger,
                    "INSERT INTO holdfast_claim SELECT name, 0, places + 1, session, 2, 0, 3, 1, 0, 0, 0, 0"
                            + " FROM holdfast_resource");
            TestSource.execute(stranger, "UPDATE holdfast_resource SET waiters = waiters + 1, places = places + 1");
            stranger.commit();
            assertThat(behind.get(1, TimeUnit.MINUTES)).isInstanceOf(Reply.Queued.class);
            int waiting = isHeld ? 1 : 2;
            assertThat(log.text("SELECT count(*) FROM holdfast_claim")).isEqualTo("" + waiting);
            assertThat(log.text("SELECT waiters FROM holdfast_resource")).isEqualTo("" + waiting);
            assertThat(answer(store, acquire(second, 1), Reply.class))
                    .isInstanceOf(isHeld ? Reply.Granted.class : Reply.Queued.class);
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    @DisplayName(
            "waits for who is at the row, and then for nobody in between, by one more statement; as does who begins to wait")
    void waitsForOthers(boolean isHeld) throws Exception {
        TestSource others = new TestSource(url);
        others.execute(GATED);
        StatementLog patient = new StatementLog(url) {
            @Override
            public Object call(Connection connection, String text, Call call) throws Throwable {
                if (text.matches("(?s)SELECT 1 FROM \\S+holdfast_resource.*")) {
                    TestSource.execute(connection, "SET lock_timeout = '1min'");
                }
                return super.call(connection, text, call);
            }
        };
        try (JdbcStore store = openGated(patient);
                Connection stranger = others.begin();
                Connection gate = others.begin()) {
            SessionId first = session(store);
            SessionId second = session(store);
            assertThat(answer(store, acquire(first, 1), Reply.Granted.class)).isNotNull();
            assertThat(answer(store, acquire(second, 1), Reply.Queued.class)).isNotNull();
            TestSource.execute(stranger, "SELECT 1 FROM holdfast_resource FOR UPDATE");
            int since = patient.said().size();
            Command command = isHeld ? giveWay(first, 1, 2) : acquire(first, 2);
            CompletableFuture<Reply> behind = Meanwhile.run(() -> answer(store, command, Reply.class));
            awaitWaiting("wait_event_type = 'Lock'");
            TestSource.execute(gate, "SELECT pg_advisory_xact_lock(7)");
            stranger.rollback();
            awaitWaiting("wait_event = 'advisory'");
            assertThat(others.text("SELECT 1 FROM holdfast_resource FOR UPDATE SKIP LOCKED"))
                    .isEmpty();
            gate.rollback();
            assertThat(behind.get(1, TimeUnit.MINUTES)).isInstanceOf(Reply.Queued.class);
            assertThat(patient.said().subList(since, patient.said().size())).hasSize(2);
            assertThat(others.text("SELECT waiters || ' ' || places FROM holdfast_resource"))
                    .isEqualTo(isHeld ? "1 2" : "2 2");
            assertThat(answer(store, acquire(second, 1), Reply.class))
                    .isInstanceOf(isHeld ? Reply.Granted.class : Reply.Queued.class);
        }
    }

    private void awaitWaiting(String how) {
        Awaitility.await()
                .atMost(60, TimeUnit.SECONDS)
                .until(() -> !log.text("SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND " + how)
                        .isEmpty());
    }

    @Test
    @DisplayName("is waited for by one statement, which waits for no disk, once it is known that others wait")
    void queues() throws Exception {
        try (JdbcStore store = open(log)) {
            SessionId first = session(store);
            assertThat(answer(store, acquire(first, 1), Reply.Granted.class)).isNotNull();
            SessionId second = session(store);
            assertThat(answer(store, acquire(second, 1), Reply.Queued.class)).isNotNull();
            SessionId third = session(store);
            int since = log.said().size();
            Reply.Queued queued = answer(store, acquire(third, 1), Reply.Queued.class);
            assertThat(queued.recheckIn()).isBetween(Duration.ofMillis(1), Duration.ofSeconds(100));
            assertThat(statements(since)).isEqualTo(1);
            assertThat(log.said().get(log.said().size() - 1)).contains("synchronous_commit");
            // A retry finds it.
            assertThat(answer(store, acquire(third, 1), Reply.Queued.class)).isNotNull();
            assertThat(log.text("SELECT waiters || ' ' || places FROM holdfast_resource"))
                    .isEqualTo("2 2");
            // No claim waits behind a dead one.
            log.execute("UPDATE holdfast_session SET deadline = 1 WHERE id = " + SessionRow.numberOf(first));
            assertThat(answer(store, acquire(third, 2), Reply.Queued.class)).isNotNull();
            assertThat(log.text("SELECT session FROM holdfast_resource"))
                    .isEqualTo(Long.toString(SessionRow.numberOf(second)));
            log.execute("UPDATE holdfast_session SET deadline = 1 WHERE id = " + SessionRow.numberOf(second));
            assertThat(answer(store, acquire(third, 3), Reply.Queued.class)).isNotNull();
            assertThat(log.text("SELECT session FROM holdfast_resource"))
                    .isEqualTo(Long.toString(SessionRow.numberOf(third)));
        }
    }
}
