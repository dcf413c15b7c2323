package dev.holdfast.store.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import dev.holdfast.Hold;
import dev.holdfast.Holdfast;
import dev.holdfast.servers.ErrorLog;
import dev.holdfast.servers.MostlyWaits;
import dev.holdfast.servers.sql.TestClient;
import dev.holdfast.servers.sql.TestDatabase;
import dev.holdfast.servers.sql.TestSource;
import dev.holdfast.spi.ClaimRef;
import dev.holdfast.spi.Command;
import dev.holdfast.spi.LockStore;
import dev.holdfast.spi.Reply;
import dev.holdfast.spi.ResourceName;
import dev.holdfast.spi.StoreException;
import dev.holdfast.store.jdbc.Throwing.Place;
import dev.holdfast.store.sqlite.SqliteHooks;
import dev.holdfast.testkit.FaultInTurn;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

/*
 * The same scenario runs repeatedly, and each run throws at the next call of one kind: the first run at the first call,
 * the second run at the second, and so on until a run ends before its call is reached.
 */
@DisplayName("Whatever a driver, a thread or a clock throws, and wherever")
@Tag("mysql")
@Tag("server")
@Tag("postgres")
class ThrowingTest {

    private static final int MOST_TELLINGS = 600;
    private static final int LANES = 8;

    static Stream<Arguments> places() {
        return Stream.of(TestDatabase.values())
                .flatMap(database -> Stream.of(Place.values())
                        .filter(place -> place != Place.CLOCK || database == TestDatabase.SQLITE)
                        .filter(place -> place != Place.NOTIFICATION)
                        .map(place -> Arguments.of(database, place)));
    }

    private static LockStore open(String url, Throwing throwing) {
        if (!url.startsWith("jdbc:sqlite:")) {
            return JdbcStore.builder(throwing.source(url))
                    .keepsConnections()
                    .threads(throwing.threads())
                    .open();
        }
        Path file = Path.of(url.substring("jdbc:sqlite:".length(), url.indexOf('?')));
        return SqliteHooks.open(file, throwing::connection, throwing.threads(), throwing::clock);
    }

    private static Holdfast client(String url, Throwing throwing) {
        return client(open(url, throwing));
    }

    private static Holdfast client(LockStore store) {
        return Holdfast.builder(store)
                .sessionTtl(Duration.ofSeconds(60))
                .storeTimeout(Duration.ofSeconds(40))
                .build();
    }

    @ParameterizedTest(name = "{0}: {1}")
    @MethodSource("places")
    @MostlyWaits
    @DisplayName("all who wait are served, and nothing stays behind")
    @Timeout(600)
    void inTurn(TestDatabase database, Place place) throws Exception {
        FaultInTurn<Place> fault = new FaultInTurn<>(place);
        Throwing throwing = new Throwing(fault);
        TestSource source = new TestSource(database.newUrl());
        try (Clients clients = new Clients(source.url(), throwing)) {
            tell(clients.one, clients.other, "warm");
            int turn = 0;
            boolean cameToIt = true;
            while (cameToIt) {
                turn++;
                assertThat(turn).isLessThan(MOST_TELLINGS);
                fault.at(turn);
                if (place == Place.THREAD) {
                    // The connections of the last run would serve this one too.
                    clients.renew();
                }
                tell(clients.one, clients.other, "n" + turn);
                cameToIt = fault.isOver();
                if (cameToIt && place != Place.THREAD) {
                    expectLoggedOnce(fault);
                }
                String when = "after " + place + " " + turn;
                Awaitility.await("nothing stays " + when)
                        .atMost(60, TimeUnit.SECONDS)
                        .until(() -> isNothingLeft(source));
            }
            assertThat(turn).isGreaterThan(place == Place.THREAD ? 1 : 10);
        }
    }

    @ParameterizedTest(name = "{0}: {1}")
    @MethodSource("places")
    @MostlyWaits
    @DisplayName("renewals go on, and whatever else is asked is answered the next time")
    @Timeout(600)
    void nextTime(TestDatabase database, Place place) {
        FaultInTurn<Place> fault = new FaultInTurn<>(place);
        Throwing throwing = new Throwing(fault);
        try (LockStore store = open(new TestSource(database.newUrl()).url(), throwing)) {
            TestClient client = new TestClient(store);
            ClaimRef grant = client.ref("held");
            client.acquire(grant);
            ResourceName latch = new ResourceName("latch");
            for (Command command : List.of(
                    new Command.KeepAlive(client.session, 0),
                    new Command.Audit(client.session, Optional.empty(), 100),
                    new Command.Inspect("", Optional.empty(), 100),
                    new Command.Poll(List.of(grant)),
                    new Command.Advance(grant, 1, 10, 0),
                    new Command.SetCount(latch, client.session, 0, 1, 100),
                    new Command.CountDown(latch, 1, "one", 1),
                    new Command.Withdraw(client.ref("held"), Command.Sending.FIRST),
                    new Command.OpenSession(Duration.ofMinutes(1), "next"))) {
                Class<?> expected = client.send(command).getClass();
                boolean cameToIt = true;
                for (int turn = 1; cameToIt; turn++) {
                    fault.at(turn);
                    Throwable thrown = catchThrowable(() -> client.send(command));
                    cameToIt = fault.isOver();
                    if (cameToIt && place != Place.THREAD) {
                        expectLoggedOnce(fault);
                    }
                    assertThat(thrown)
                            .satisfiesAnyOf(
                                    none -> assertThat(none).isNull(),
                                    known -> assertThat(known).isInstanceOf(StoreException.class));
                    String when = command + " after " + place + " " + turn;
                    assertThat(client.send(command)).as(when).isInstanceOf(expected);
                    client.keepAlive();
                    assertThat(client.poll(grant)).as(when).isInstanceOf(Reply.Granted.class);
                }
            }
        }
    }

    @Test
    @MostlyWaits
    @DisplayName("a grant is found whose notification was lost with it, and the next ones are heard")
    @Timeout(600)
    void notification() throws Exception {
        FaultInTurn<Place> fault = new FaultInTurn<>(Place.NOTIFICATION);
        TestSource source = new TestSource(TestDatabase.POSTGRES.newUrl());
        try (Clients clients = new Clients(source.url(), new Throwing(fault))) {
            for (int i = 0; i < 4; i++) {
                String name = "n" + i;
                Hold first = clients.other.lock(name).acquire(Duration.ofSeconds(60));
                CompletableFuture<Hold> waiting =
                        clients.one.lock(name).acquireAsync().toCompletableFuture();
                Awaitility.await("it waits in the database")
                        .atMost(60, TimeUnit.SECONDS)
                        .until(() -> source.text("SELECT count(*) FROM holdfast_claim WHERE granted = 0")
                                .equals("1"));
                boolean isLost = i % 2 == 0;
                if (isLost) {
                    fault.at(1);
                }
                first.close();
                get(waiting).close();
                if (isLost) {
                    assertThat(fault.isOver()).isTrue();
                    expectLoggedOnce(fault);
                }
            }
        }
    }

    @ParameterizedTest(name = "lent: {0}, {1}")
    @CsvSource({"false, ANSWER", "true, DRIVER"})
    @MostlyWaits
    @DisplayName("who waits for a row that somebody else keeps locked has it in the end")
    @Timeout(600)
    void behindALockedRow(boolean isLent, Place place) throws Exception {
        // A run mostly waits for an attempt to time out, so several run in parallel.
        ExecutorService lanes = Executors.newFixedThreadPool(LANES);
        try {
            List<Future<?>> all = new ArrayList<>();
            for (int lane = 1; lane <= LANES; lane++) {
                int first = lane;
                String url = TestDatabase.POSTGRES.newUrl();
                all.add(lanes.submit(() -> {
                    behindALockedRow(isLent, place, first, url);
                    return null;
                }));
            }
            for (Future<?> lane : all) {
                lane.get();
            }
        } finally {
            lanes.shutdownNow();
        }
    }

    /** Makes every {@link #LANES}th run, beginning with this one, in a separate database. */
    private static void behindALockedRow(boolean isLent, Place place, int first, String url) throws Exception {
        FaultInTurn<Place> fault = new FaultInTurn<>(place);
        Throwing throwing = new Throwing(fault);
        TestSource source = new TestSource(url);
        JdbcStore.Builder builder = JdbcStore.builder(throwing.source(url));
        try (Holdfast client = client((isLent ? builder : builder.keepsConnections()).open());
                Connection stranger = source.getConnection()) {
            get(client.lock("locked").acquireAsync()).close();
            stranger.setAutoCommit(false);
            boolean cameToIt = true;
            for (int turn = first; cameToIt; turn += LANES) {
                assertThat(turn).isLessThan(MOST_TELLINGS);
                fault.at(turn);
                TestSource.execute(
                        stranger, "SELECT name FROM holdfast_resource WHERE name = '\\x6c6f636b6564' FOR UPDATE");
                CompletableFuture<Hold> waiting =
                        client.lock("locked").acquireAsync().toCompletableFuture();
                for (int i = 0; i < 2; i++) {
                    // After the first attempt, which times out before this.
                    get(client.lock("beside").acquireAsync()).close();
                }
                stranger.rollback();
                get(waiting).close();
                cameToIt = fault.isOver();
                if (cameToIt) {
                    expectLoggedOnce(fault);
                }
                Awaitility.await("nothing stays after " + place + " " + turn)
                        .atMost(60, TimeUnit.SECONDS)
                        .until(() -> isNothingLeft(source));
            }
        }
    }

    private static void expectLoggedOnce(FaultInTurn<Place> fault) {
        Awaitility.await("it is logged: " + fault.text())
                .atMost(60, TimeUnit.SECONDS)
                .until(() -> ErrorLog.errors().stream().anyMatch(error -> error.isAbout(fault.text())));
        assertThat(ErrorLog.errors())
                .filteredOn(error -> error.isAbout(fault.text()))
                .hasSize(1);
    }

    /** Two clients, one with the fault and one without. */
    private static final class Clients implements AutoCloseable {
        private final String url;
        private final Throwing throwing;
        private final Holdfast other;
        private Holdfast one;

        Clients(String url, Throwing throwing) {
            this.url = url;
            this.throwing = throwing;
            this.other = client(url, new Throwing(new FaultInTurn<>(Place.DRIVER)));
            this.one = client(url, throwing);
        }

        void renew() {
            one.close();
            try {
                one = client(url, throwing);
            } catch (Throwing.NoThread e) {
                // Opening a store reports it.
                one = client(url, throwing);
            }
        }

        @Override
        public void close() {
            one.close();
            other.close();
        }
    }

    /** Their sessions are alive, so nothing is cleaned up because a session ended. */
    private static boolean isNothingLeft(TestSource source) throws SQLException {
        return source.text("SELECT count(*) FROM holdfast_claim").equals("0")
                && source.text("SELECT count(*) FROM holdfast_resource WHERE session <> 0")
                        .equals("0");
    }

    /** Free, contended, handed-over and released locks, with waiting and asynchronous claims. */
    private static void tell(Holdfast one, Holdfast other, String name) throws Exception {
        Hold first = get(one.lock(name).acquireAsync());
        long token = first.fencingToken();
        CompletableFuture<Hold> waiting = other.lock(name).acquireAsync().toCompletableFuture();
        CompletableFuture<Hold> beside = one.lock(name + "-b").acquireAsync().toCompletableFuture();
        var unusedRelease = first.releaseAsync();
        Hold second = get(waiting);
        assertThat(second.fencingToken()).isGreaterThan(token);
        token = second.fencingToken();
        CompletableFuture<Hold> back = one.lock(name).acquireAsync().toCompletableFuture();
        second.close();
        Hold third = get(back);
        assertThat(third.fencingToken()).isGreaterThan(token);
        third.close();
        get(beside).close();
        try (Hold last = one.lock(name + "-c").acquire(Duration.ofSeconds(60))) {
            assertThat(last.isHeld()).isTrue();
        }
    }

    private static <T> T get(CompletionStage<T> stage) throws Exception {
        return stage.toCompletableFuture().get(60, TimeUnit.SECONDS);
    }
}
