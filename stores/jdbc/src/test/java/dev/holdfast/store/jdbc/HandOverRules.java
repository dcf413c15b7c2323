package dev.holdfast.store.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.servers.sql.StatementLog;
import dev.holdfast.servers.sql.TestSource;
import dev.holdfast.spi.CallerMode;
import dev.holdfast.spi.ClaimRef;
import dev.holdfast.spi.Command;
import dev.holdfast.spi.Command.Acquire;
import dev.holdfast.spi.Command.Release;
import dev.holdfast.spi.Command.Sending;
import dev.holdfast.spi.Command.Yield;
import dev.holdfast.spi.Lease;
import dev.holdfast.spi.Reply;
import dev.holdfast.spi.ResourceName;
import dev.holdfast.spi.ResourceSpec;
import dev.holdfast.spi.SessionId;
import dev.holdfast.spi.Signal;
import dev.holdfast.store.ledger.table.SessionRow;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** What a hand-over by one statement does, on each server that has such a statement. */
abstract class HandOverRules {

    static final ResourceName NAME = new ResourceName("hot");

    final String url;
    final StatementLog log;

    HandOverRules(String url) {
        this.url = url;
        this.log = new StatementLog(url);
    }

    static JdbcStore open(TestSource source) {
        return JdbcStore.builder(source).keepsConnections().open();
    }

    static CompletableFuture<Reply> send(JdbcStore store, Command command) {
        return store.execute(command, CallerMode.BLOCKING).toCompletableFuture();
    }

    static <T extends Reply> T answer(JdbcStore store, Command command, Class<T> type) throws Exception {
        return type.cast(send(store, command).get(1, TimeUnit.MINUTES));
    }

    static SessionId session(JdbcStore store) throws Exception {
        return answer(store, new Command.OpenSession(Duration.ofMinutes(5), "test"), Reply.SessionOpened.class)
                .session();
    }

    static Acquire acquire(SessionId session, long claim, Lease lease, Sending sending) {
        return new Acquire(
                new ClaimRef(NAME, session, claim), 0, sending, ResourceSpec.MUTEX, 1, lease, Command.Waiting.QUEUE, 3);
    }

    static Acquire acquire(SessionId session, long claim) {
        return acquire(session, claim, Lease.SESSION, Sending.FIRST);
    }

    static Yield giveWay(SessionId session, long claim, long next) {
        return new Yield(new ClaimRef(NAME, session, claim), acquire(session, next));
    }

    long statements(int since) {
        return log.said().stream()
                .skip(since)
                // The driver answers these itself.
                .filter(text -> !text.equals("getTransactionIsolation"))
                .filter(text -> !isOfListener(text))
                .count();
    }

    /** Whether a statement is one of the thread that waits for notifications. */
    boolean isOfListener(String text) {
        return false;
    }

    static BlockingQueue<Signal> signals(JdbcStore store) {
        BlockingQueue<Signal> signals = new LinkedBlockingQueue<>();
        store.subscribe(signals::add);
        return signals;
    }

    /** Whether a client is told of a grant with its tokens; otherwise there may be only a hint to ask the store. */
    boolean tellsTokens() {
        return true;
    }

    private Signal awaitSignal(BlockingQueue<Signal> heard, ClaimRef claim) throws InterruptedException {
        Signal signal = heard.poll(1, TimeUnit.MINUTES);
        assertThat(signal).isInstanceOf(tellsTokens() ? Signal.Granted.class : Signal.OnClaim.class);
        assertThat(((Signal.OnClaim) signal).claim()).isEqualTo(claim);
        return signal;
    }

    private static void expectSame(Signal signal, Reply.Granted granted) {
        if (signal instanceof Signal.Granted pushed) {
            assertThat(pushed.grant()).isEqualTo(granted);
        }
    }

    @Test
    @DisplayName("is one statement, and tells the next owner all of it")
    void tellsTheNext() throws Exception {
        tellsTheNext(JdbcStore.builder(log).keepsConnections());
    }

    void tellsTheNext(JdbcStore.Builder builder) throws Exception {
        try (JdbcStore one = builder.open();
                JdbcStore other = open(new TestSource(url))) {
            BlockingQueue<Signal> heard = signals(other);
            SessionId first = session(one);
            SessionId second = session(other);
            Reply.Granted firstGrant = answer(one, acquire(first, 1), Reply.Granted.class);
            assertThat(answer(other, acquire(second, 1), Reply.Queued.class)).isNotNull();
            int since = log.said().size();
            Reply.Queued behind = answer(one, giveWay(first, 1, 2), Reply.Queued.class);
            assertThat(statements(since)).isEqualTo(1);
            assertThat(behind.recheckIn()).isBetween(Duration.ofMillis(1), Duration.ofSeconds(100));

            Signal signal = awaitSignal(heard, new ClaimRef(NAME, second, 1));
            Reply.Granted granted = answer(other, acquire(second, 1), Reply.Granted.class);
            expectSame(signal, granted);
            assertThat(granted.tokens().first())
                    .isGreaterThan(firstGrant.tokens().last());
            assertThat(granted.tokens().size()).isEqualTo(3);
            assertThat(granted.awaited()).isTrue();

            // And back, by a release, after which there are no waiters.
            assertThat(answer(other, new Release(new ClaimRef(NAME, second, 1)), Reply.Released.class))
                    .isNotNull();
            Reply.Granted last = answer(one, acquire(first, 2), Reply.Granted.class);
            assertThat(last.tokens().first()).isGreaterThan(granted.tokens().last());
            assertThat(last.awaited()).isFalse();
            assertThat(log.text("SELECT count(*) FROM holdfast_claim")).isEqualTo("0");
        }
    }

    @Test
    @DisplayName("by a release that somebody waits for is one statement, and within a client one answer")
    void withinAClient() throws Exception {
        try (JdbcStore store = open(log)) {
            BlockingQueue<Signal> heard = signals(store);
            SessionId first = session(store);
            SessionId second = session(store);
            assertThat(answer(store, acquire(first, 1), Reply.Granted.class)).isNotNull();
            assertThat(answer(store, acquire(second, 1), Reply.Queued.class)).isNotNull();
            int since = log.said().size();
            assertThat(answer(store, new Release(new ClaimRef(NAME, first, 1)), Reply.Released.class))
                    .isNotNull();
            assertThat(statements(since)).isEqualTo(1);
            Signal signal = awaitSignal(heard, new ClaimRef(NAME, second, 1));
            expectSame(signal, answer(store, acquire(second, 1), Reply.Granted.class));
        }
    }

    @Test
    @DisplayName("passes over who is dead")
    void passesOverTheDead() throws Exception {
        try (JdbcStore store = open(log)) {
            SessionId first = session(store);
            SessionId dead = session(store);
            SessionId second = session(store);
            assertThat(answer(store, acquire(first, 1), Reply.Granted.class)).isNotNull();
            assertThat(answer(store, acquire(dead, 1), Reply.Queued.class)).isNotNull();
            assertThat(answer(store, acquire(second, 1), Reply.Queued.class)).isNotNull();
            log.execute("UPDATE holdfast_session SET deadline = 1 WHERE id = " + SessionRow.numberOf(dead));
            assertThat(answer(store, giveWay(first, 1, 2), Reply.Queued.class)).isNotNull();
            assertThat(log.text("SELECT session FROM holdfast_resource"))
                    .isEqualTo(Long.toString(SessionRow.numberOf(second)));
        }
    }

    @Test
    @DisplayName("gives a fixed lease, which begins when that is picked up")
    void fixedLease() throws Exception {
        try (JdbcStore store = open(log)) {
            SessionId first = session(store);
            assertThat(answer(store, acquire(first, 1), Reply.Granted.class)).isNotNull();
            Acquire fixed = acquire(session(store), 1, Lease.bounded(Duration.ofMinutes(1)), Sending.FIRST);
            assertThat(answer(store, fixed, Reply.Queued.class)).isNotNull();
            assertThat(answer(store, giveWay(first, 1, 2), Reply.Queued.class)).isNotNull();
            assertThat(answer(store, fixed, Reply.Granted.class).remaining()).contains(Duration.ofMinutes(1));
        }
    }

    @Test
    @DisplayName("that is sent again changes nothing more")
    void sentAgain() throws Exception {
        try (JdbcStore one = open(log);
                JdbcStore other = open(new TestSource(url))) {
            SessionId first = session(one);
            SessionId second = session(other);
            assertThat(answer(one, acquire(first, 1), Reply.Granted.class)).isNotNull();
            assertThat(answer(other, acquire(second, 1), Reply.Queued.class)).isNotNull();
            assertThat(answer(one, giveWay(first, 1, 2), Reply.Queued.class)).isNotNull();
            assertThat(answer(one, giveWay(first, 1, 2), Reply.Queued.class)).isNotNull();
            assertThat(answer(one, new Release(new ClaimRef(NAME, first, 1)), Reply.Absent.class))
                    .isNotNull();
            assertThat(List.of(
                            log.text("SELECT count(*) FROM holdfast_claim"),
                            log.text("SELECT waiters FROM holdfast_resource")))
                    .containsExactly("1", "1");
        }
    }

    @Test
    @DisplayName("queues nobody who stands in the queue already")
    void queuesOnce() throws Exception {
        try (JdbcStore store = open(log)) {
            SessionId first = session(store);
            SessionId second = session(store);
            assertThat(answer(store, acquire(first, 1), Reply.Granted.class)).isNotNull();
            assertThat(answer(store, acquire(second, 1), Reply.Queued.class)).isNotNull();
            assertThat(answer(store, acquire(first, 2), Reply.Queued.class)).isNotNull();
            assertThat(answer(store, giveWay(first, 1, 2), Reply.Queued.class)).isNotNull();
            assertThat(log.text("SELECT count(*) FROM holdfast_claim")).isEqualTo("1");
            assertThat(answer(store, acquire(second, 1), Reply.Granted.class)).isNotNull();
        }
    }
}
