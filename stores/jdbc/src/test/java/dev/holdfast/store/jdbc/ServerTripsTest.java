package dev.holdfast.store.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.servers.sql.StatementLog;
import dev.holdfast.servers.sql.TestDatabase;
import dev.holdfast.servers.sql.TestSource;
import dev.holdfast.spi.CallerMode;
import dev.holdfast.spi.ClaimRef;
import dev.holdfast.spi.Command;
import dev.holdfast.spi.Command.Acquire;
import dev.holdfast.spi.Command.Advance;
import dev.holdfast.spi.Command.Sending;
import dev.holdfast.spi.Kind;
import dev.holdfast.spi.Lease;
import dev.holdfast.spi.Order;
import dev.holdfast.spi.Reply;
import dev.holdfast.spi.ResourceName;
import dev.holdfast.spi.ResourceSpec;
import dev.holdfast.spi.SessionId;
import dev.holdfast.spi.TokenBlock;
import dev.holdfast.store.ledger.table.SessionRow;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

@DisplayName("On a server")
@Tag("mysql")
@Tag("server")
@Tag("postgres")
class ServerTripsTest {

    private static final ResourceName NAME = new ResourceName("hot");
    private static final int WANTED = 1_000;

    private static JdbcStore open(TestSource source) {
        return JdbcStore.builder(source).keepsConnections().listens(false).open();
    }

    private static <T extends Reply> T send(JdbcStore store, Command command, Class<T> type) throws Exception {
        return type.cast(store.execute(command, CallerMode.BLOCKING)
                .toCompletableFuture()
                .get(1, TimeUnit.MINUTES));
    }

    private static SessionId session(JdbcStore store) throws Exception {
        return send(store, new Command.OpenSession(Duration.ofMinutes(5), "test"), Reply.SessionOpened.class)
                .session();
    }

    private static Acquire acquire(SessionId session, long claim) {
        return acquire(session, claim, ResourceSpec.MUTEX, 1, WANTED);
    }

    private static Acquire acquire(SessionId session, long claim, ResourceSpec spec, int weight, int tokens) {
        return new Acquire(
                new ClaimRef(NAME, session, claim),
                0,
                Sending.FIRST,
                spec,
                weight,
                Lease.SESSION,
                Command.Waiting.QUEUE,
                tokens);
    }

    /** With a single token: several in a row do not bring the counter ahead of the clock, where the fast path ends. */
    private static Acquire single(SessionId session, long claim) {
        return acquire(session, claim, ResourceSpec.MUTEX, 1, 1);
    }

    /** The statements since then, without keep-alives. */
    private static List<String> trips(StatementLog log, int since) {
        return log.said().subList(since, log.said().size());
    }

    @OnEachServer
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
            log.execute("UPDATE holdfast_session SET deadline = 1 WHERE id = " + SessionRow.numberOf(dead));
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
    @DisplayName("of PostgreSQL a hand-over of permits is five trips")
    void handOverOfPermits(TestDatabase database) throws Exception {
        StatementLog log = new StatementLog(database.newUrl());
        ResourceSpec two = new ResourceSpec(Kind.SEMAPHORE, 2, Order.FAIR);
        try (JdbcStore one = open(log);
                JdbcStore other = open(new TestSource(log.url()))) {
            SessionId session = session(one);
            var grant = send(one, acquire(session, 1, two, 2, 1), Reply.Granted.class);
            SessionId next = session(other);
            var queued = send(other, acquire(next, 1, two, 1, 1), Reply.Queued.class);
            int since = log.said().size();
            var behind = send(
                    one,
                    new Command.Yield(new ClaimRef(NAME, session, 1), acquire(session, 2, two, 2, 1)),
                    Reply.Queued.class);
            assertThat(List.of(queued, behind)).hasSize(2);
            assertThat(trips(log, since)).hasSize(5).last().isEqualTo("commit");
            var granted = send(other, acquire(next, 1, two, 1, 1), Reply.Granted.class);
            assertThat(granted.tokens().first()).isGreaterThan(grant.tokens().last());
        }
    }

    @ParameterizedTest
    @EnumSource(
            value = TestDatabase.class,
            names = {"POSTGRES"})
    @DisplayName("who begins to wait waits for no disk, and who is let in, or lets in, does")
    void relaxed(TestDatabase database) throws Exception {
        StatementLog log = new StatementLog(database.newUrl());
        try (JdbcStore one = open(log)) {
            SessionId session = session(one);
            var grant = send(one, acquire(session, 1), Reply.Granted.class);
            int since = log.said().size();
            var queued = send(one, acquire(session(one), 1), Reply.Queued.class);
            assertThat(queued).isNotNull();
            assertThat(trips(log, since)).filteredOn(ServerTripsTest::isRelaxed).hasSize(1);
            since = log.said().size();
            var released = send(one, new Command.Release(new ClaimRef(NAME, session, 1)), Reply.Released.class);
            assertThat(released).isNotNull();
            var granted = send(one, acquire(session, 2), Reply.Queued.class);
            assertThat(granted).isNotNull();
            assertThat(trips(log, since)).filteredOn(ServerTripsTest::isRelaxed).hasSize(1);
            assertThat(grant).isNotNull();
        }
    }

    @ParameterizedTest
    @EnumSource(
            value = TestDatabase.class,
            names = {"POSTGRES"})
    @DisplayName("who gives something back waits for the disk, also where that lets nobody in")
    void yieldsDurably(TestDatabase database) throws Exception {
        StatementLog log = new StatementLog(database.newUrl());
        ResourceSpec three = new ResourceSpec(Kind.SEMAPHORE, 3, Order.FAIR);
        try (JdbcStore one = open(log)) {
            SessionId session = session(one);
            SessionId other = session(one);
            var small = send(one, acquire(session, 1, three, 1, 1), Reply.Granted.class);
            var rest = send(one, acquire(other, 1, three, 2, 1), Reply.Granted.class);
            var head = send(one, acquire(other, 2, three, 3, 1), Reply.Queued.class);
            int since = log.said().size();
            var behind = send(
                    one,
                    new Command.Yield(new ClaimRef(NAME, session, 1), acquire(session, 2, three, 1, 1)),
                    Reply.Queued.class);
            assertThat(List.of(small, rest, head, behind)).hasSize(4);
            assertThat(trips(log, since)).contains("commit").noneMatch(ServerTripsTest::isRelaxed);
        }
    }

    @OnEachServer
    @DisplayName("an audit locks none of the rows that it tells of, unless a lease is over there")
    void audit(TestDatabase database) throws Exception {
        StatementLog log = new StatementLog(database.newUrl());
        try (JdbcStore store = open(log)) {
            SessionId session = session(store);
            Acquire grant = single(session, 1);
            var granted = send(store, grant, Reply.Granted.class);
            assertThat(granted).isNotNull();
            Command.Audit audit = new Command.Audit(session, Optional.empty(), 10);
            int since = log.said().size();
            assertThat(send(store, audit, Reply.Audited.class).granted()).containsExactly(grant.claim());
            assertThat(trips(log, since)).noneMatch(text -> text.contains("FOR UPDATE"));
            log.execute("UPDATE holdfast_resource SET ends = 1");
            assertThat(send(store, audit, Reply.Audited.class).granted()).isEmpty();
            assertThat(log.text("SELECT session FROM holdfast_resource")).isEqualTo("0");
        }
    }

    private static boolean isRelaxed(String text) {
        return text.contains("synchronous_commit");
    }

    @OnEachServer
    @DisplayName("a name that is waited for is no more tried by the short way, until nobody waits")
    void awaited(TestDatabase database) throws Exception {
        StatementLog log = new StatementLog(database.newUrl());
        try (JdbcStore one = open(log)) {
            SessionId session = session(one);
            SessionId other = session(one);
            var grant = send(one, single(session, 1), Reply.Granted.class);
            assertThat(grant).isNotNull();
            int first = tripsOf(log, () -> send(one, single(other, 1), Reply.Queued.class));
            int second = tripsOf(log, () -> send(one, single(other, 2), Reply.Queued.class));
            assertThat(second).isLessThan(first);

            var released = send(one, new Command.Release(new ClaimRef(NAME, session, 1)), Reply.Released.class);
            var next = send(one, new Command.Release(new ClaimRef(NAME, other, 1)), Reply.Released.class);
            var last = send(one, new Command.Release(new ClaimRef(NAME, other, 2)), Reply.Released.class);
            assertThat(List.of(released, next, last)).hasSize(3);
            assertThat(tripsOf(log, () -> send(one, single(session, 2), Reply.Granted.class)))
                    .isEqualTo(1);
        }
    }

    private static int tripsOf(StatementLog log, Callable<?> work) throws Exception {
        int since = log.said().size();
        assertThat(work.call()).isNotNull();
        return trips(log, since).size();
    }
}
