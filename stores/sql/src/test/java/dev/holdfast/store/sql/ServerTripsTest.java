package dev.holdfast.store.sql;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.spi.Caller;
import dev.holdfast.spi.ClaimRef;
import dev.holdfast.spi.Command;
import dev.holdfast.spi.Command.Acquire;
import dev.holdfast.spi.Command.Advance;
import dev.holdfast.spi.Command.Sending;
import dev.holdfast.spi.Lease;
import dev.holdfast.spi.Reply;
import dev.holdfast.spi.ResourceName;
import dev.holdfast.spi.ResourceSpec;
import dev.holdfast.spi.SessionId;
import dev.holdfast.spi.TokenBlock;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

@DisplayName("On a server")
class ServerTripsTest {

    private static final ResourceName NAME = new ResourceName("hot");
    private static final int WANTED = 1_000;

    private static JdbcStore open(TestSource source) {
        return JdbcStore.builder(source).keepsConnections().listens(false).open();
    }

    private static <T extends Reply> T send(JdbcStore store, Command command, Class<T> type) throws Exception {
        return type.cast(
                store.execute(command, Caller.WAITS).toCompletableFuture().get(1, TimeUnit.MINUTES));
    }

    private static SessionId session(JdbcStore store) throws Exception {
        return send(store, new Command.OpenSession(Duration.ofMinutes(5), "test"), Reply.SessionOpened.class)
                .session();
    }

    private static Acquire acquire(SessionId session, long claim) {
        return new Acquire(
                new ClaimRef(NAME, session, claim),
                0,
                Sending.FIRST,
                ResourceSpec.MUTEX,
                1,
                Lease.SESSION,
                Command.Waiting.QUEUE,
                WANTED);
    }

    /** What was sent since, without the keeping alive of sessions. */
    private static List<String> trips(StatementLog log, int since) {
        return log.said().subList(since, log.said().size());
    }

    @ParameterizedTest
    @EnumSource(
            value = TestDatabase.class,
            names = {"POSTGRES", "MARIADB"})
    @DisplayName("a fresh block of tokens is an update without a transaction, also while others wait")
    void advance(TestDatabase database) throws Exception {
        StatementLog log = new StatementLog(database.newUrl());
        try (JdbcStore one = open(log);
                JdbcStore other = open(new TestSource(log.url()))) {
            SessionId session = session(one);
            TokenBlock first =
                    send(one, acquire(session, 1), Reply.Granted.class).tokens();
            ClaimRef claim = new ClaimRef(NAME, session, 1);
            int since = log.said().size();
            Reply.Advanced second = send(one, new Advance(claim, first.last(), WANTED, 0), Reply.Advanced.class);
            assertThat(second.tokens().first()).isGreaterThan(first.last());
            assertThat(second.tokens().size()).isEqualTo(WANTED);
            assertThat(second.awaited()).isFalse();
            var queued = send(other, acquire(session(other), 1), Reply.Queued.class);
            assertThat(queued).isNotNull();
            Reply.Advanced third = send(
                    one,
                    new Advance(
                            claim,
                            second.tokens().last(),
                            WANTED,
                            second.tokens().last() + 50),
                    Reply.Advanced.class);
            assertThat(third.tokens().first()).isGreaterThan(second.tokens().last() + 50);
            assertThat(third.awaited()).isTrue();
            assertThat(trips(log, since))
                    .hasSize(database == TestDatabase.POSTGRES ? 2 : 4)
                    .noneMatch(text -> text.equalsIgnoreCase("commit"));
            // Sent again it answers the same, the long way.
            assertThat(send(one, new Advance(claim, second.tokens().last(), WANTED, 0), Reply.Advanced.class))
                    .isEqualTo(third);
        }
    }

    @ParameterizedTest
    @EnumSource(
            value = TestDatabase.class,
            names = {"POSTGRES", "MARIADB"})
    @DisplayName("a holder is not told of waiters whose sessions have ended")
    void deadWaiters(TestDatabase database) throws Exception {
        StatementLog log = new StatementLog(database.newUrl());
        try (JdbcStore one = open(log)) {
            SessionId session = session(one);
            TokenBlock block =
                    send(one, acquire(session, 1), Reply.Granted.class).tokens();
            SessionId dead = session(one);
            var queued = send(one, acquire(dead, 1), Reply.Queued.class);
            assertThat(queued).isNotNull();
            log.execute("UPDATE holdfast_session SET deadline = 1 WHERE id = " + Session.numberOf(dead));
            Reply.Advanced advanced = send(
                    one, new Advance(new ClaimRef(NAME, session, 1), block.last(), WANTED, 0), Reply.Advanced.class);
            assertThat(advanced.awaited()).isFalse();
            assertThat(log.text("SELECT count(*) FROM holdfast_claim")).isEqualTo("0");
        }
    }

    @ParameterizedTest
    @EnumSource(
            value = TestDatabase.class,
            names = {"POSTGRES"})
    @DisplayName("of PostgreSQL a hand-over is three trips")
    void handOver(TestDatabase database) throws Exception {
        StatementLog log = new StatementLog(database.newUrl());
        try (JdbcStore one = open(log);
                JdbcStore other = open(new TestSource(log.url()))) {
            SessionId session = session(one);
            var held = send(one, acquire(session, 1), Reply.Granted.class);
            assertThat(held).isNotNull();
            SessionId next = session(other);
            var queued = send(other, acquire(next, 1), Reply.Queued.class);
            assertThat(queued).isNotNull();
            int since = log.said().size();
            var behind = send(
                    one, new Command.Yield(new ClaimRef(NAME, session, 1), acquire(session, 2)), Reply.Queued.class);
            assertThat(behind).isNotNull();
            assertThat(trips(log, since)).hasSize(3).last().isEqualTo("commit");
            var granted = send(other, acquire(next, 1), Reply.Granted.class);
            assertThat(granted.tokens().first()).isGreaterThan(held.tokens().last());
        }
    }
}
