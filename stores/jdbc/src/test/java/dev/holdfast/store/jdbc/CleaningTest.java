package dev.holdfast.store.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.Hold;
import dev.holdfast.Holdfast;
import dev.holdfast.servers.sql.StatementLog;
import dev.holdfast.servers.sql.TestClient;
import dev.holdfast.servers.sql.TestDatabase;
import dev.holdfast.servers.sql.TestSource;
import dev.holdfast.spi.ClaimRef;
import dev.holdfast.spi.Command;
import dev.holdfast.spi.Reply;
import dev.holdfast.spi.ResourceName;
import dev.holdfast.store.jdbc.server.CleanerLease;
import dev.holdfast.store.jdbc.server.DriverDataSource;
import dev.holdfast.store.jdbc.server.IdlePolicy;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

@DisplayName("Cleaning on a database server")
@Tag("mysql")
@Tag("server")
@Tag("postgres")
class CleaningTest {

    private static final String CLOCK = "(SELECT micros FROM holdfast_clock)";

    /**
     * While tokens are ahead of the clock they are consecutive; a name that returns begins at the floor of the last
     * run.
     */
    private static final long A_TURN_AHEAD = 100_000;

    private static TestSource withClock(TestDatabase database) throws SQLException {
        TestSource source = new TestSource(database.newUrl());
        source.execute(
                "CREATE TABLE holdfast_clock (micros BIGINT NOT NULL)",
                "INSERT INTO holdfast_clock VALUES (" + ChronoUnit.MICROS.between(Instant.EPOCH, Instant.now()) + ")");
        return source;
    }

    private static void advance(TestSource source, Duration by) throws SQLException {
        source.execute("UPDATE holdfast_clock SET micros = micros + " + by.toNanos() / 1_000);
    }

    private static JdbcStore.Builder builder(TestSource source) {
        return JdbcStore.builder(new DriverDataSource(source.url())).keepsConnections();
    }

    private static String names(TestSource source) throws SQLException {
        boolean isMaria = !source.url().startsWith("jdbc:postgresql");
        return source.text(
                isMaria
                        ? "SELECT group_concat(CAST(name AS CHAR) ORDER BY name) FROM holdfast_resource"
                        : "SELECT string_agg(convert_from(name, 'UTF8'), ',' ORDER BY name) FROM holdfast_resource");
    }

    @ParameterizedTest
    @EnumSource(names = {"POSTGRES", "MARIADB"})
    @DisplayName("keeps each name for as long as is said of it, and tokens rise over its return")
    void byPattern(TestDatabase database) throws Exception {
        TestSource source = withClock(database);
        JdbcStore store = builder(source)
                .clock(CLOCK)
                .keepIdle("keep-*", ChronoUnit.FOREVER.getDuration())
                .keepIdle("report-*", Duration.ofDays(7))
                .keepIdle("*", Duration.ofHours(1))
                .open();
        List<String> all = List.of("a", "b", "keep-1", "report-1");
        // Sessions last, because only the test moves the clock.
        try (Holdfast client = Holdfast.builder(store).build()) {
            List<Long> tokens = new ArrayList<>();
            for (String name : all) {
                try (Hold hold = client.lock(name).acquire()) {
                    tokens.add(hold.fencingToken());
                }
            }
            assertThat(names(source)).isEqualTo("a,b,keep-1,report-1");
            cleanTwice(store, source, Duration.ZERO);
            assertThat(names(source)).isEqualTo("a,b,keep-1,report-1");
            cleanTwice(store, source, Duration.ofHours(2));
            assertThat(names(source)).isEqualTo("keep-1,report-1");
            cleanTwice(store, source, Duration.ofDays(8));
            assertThat(names(source)).isEqualTo("keep-1");
            cleanTwice(store, source, Duration.ofDays(365));
            assertThat(names(source)).isEqualTo("keep-1");
        }
        // Set back by all of that: only recorded values keep tokens from decreasing.
        advance(source, Duration.ofDays(-380));
        try (Holdfast client =
                Holdfast.builder(builder(source).clock(CLOCK).open()).build()) {
            long floor = Long.parseLong(source.text("SELECT token_floor FROM holdfast_meta"));
            for (String name : List.of("a", "b", "report-1")) {
                try (Hold hold = client.lock(name).acquire()) {
                    assertThat(hold.fencingToken()).isGreaterThan(floor);
                }
            }
        }
    }

    /** In two runs, a minute apart. */
    private static void cleanTwice(JdbcStore store, TestSource source, Duration after) throws SQLException {
        advance(source, after.plusMinutes(2));
        assertThat(store.housekeeping().runIfDue()).isTrue();
        advance(source, Duration.ofMinutes(2));
        assertThat(store.housekeeping().runIfDue()).isTrue();
    }

    @ParameterizedTest
    @EnumSource(names = {"POSTGRES", "MARIADB"})
    @DisplayName("drops names that nobody uses by few statements, and leaves those alone that somebody has")
    void fewStatements(TestDatabase database) throws Exception {
        StatementLog log = new StatementLog(database.newUrl());
        SqlTables tables = new SqlTables(log.url());
        try (JdbcStore store =
                JdbcStore.builder(log).keepsConnections().listens(false).open()) {
            TestClient client = new TestClient(store);
            tables.fill(); // names unused for an hour, and names with holders and waiters
            client.granted("ours");
            client.send(new Command.SetCount(new ResourceName("latch"), client.session, 0, 1, 2), Reply.Count.class);
            ClaimRef other = client.ref("was a latch");
            client.acquire(other);
            client.release(other);
            log.execute(
                    "UPDATE holdfast_resource SET last_token = 5, first_token = 5, end_token = 5 WHERE claim > 0 AND waiters = 0",
                    "INSERT INTO holdfast_latch (generation, remaining, changed, name) SELECT 1, 0, "
                            + ChronoUnit.MICROS.between(Instant.EPOCH, Instant.now())
                            + ", name FROM holdfast_resource WHERE last_token = 5 AND session = 0");
            // One run raises the floor, and the next one drops the names below it.
            for (int lease = 0; lease < 2; lease++) {
                int since = log.said().size();
                store.housekeeping().run(IdlePolicy.ofMicros(TimeUnit.MINUTES.toMicros(30)));
                assertThat(log.said().size() - since).isLessThan(SqlTables.NAMES / 10 + SqlTables.CLAIMS * 10);
            }
            assertThat(log.text("SELECT count(*) FROM holdfast_resource"))
                    .isEqualTo(Integer.toString(SqlTables.CLAIMS + 3));
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"POSTGRES", "MARIADB"})
    @DisplayName("is done by one client at a time; who was stopped in the midst of it finds that another has it")
    void oneAtATime(TestDatabase database) throws Exception {
        TestSource source = withClock(database);
        try (JdbcStore one = builder(source).clock(CLOCK).open();
                JdbcStore other = builder(source).clock(CLOCK).open()) {
            CleanerLease lease = one.housekeeping().newLease();
            assertThat(lease.begin()).isTrue();
            assertThat(other.housekeeping().runIfDue()).isFalse();
            advance(source, Duration.ofSeconds(50));
            assertThat(lease.renew()).isTrue();
            advance(source, Duration.ofSeconds(50));
            assertThat(other.housekeeping().runIfDue()).isFalse();
            advance(source, Duration.ofSeconds(20));
            assertThat(other.housekeeping().runIfDue()).isTrue();
            assertThat(lease.renew()).isFalse();
            assertThat(lease.renew()).isFalse();
            // A clock that was set back does not prevent runs forever.
            advance(source, Duration.ofDays(-3));
            assertThat(one.housekeeping().runIfDue()).isTrue();
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"POSTGRES", "MARIADB"})
    @DisplayName(
            "disturbs nobody and lets no token fall, while names in use come and go and clients take turns without end")
    void underLoad(TestDatabase database) throws Exception {
        String url = database.newUrl();
        AtomicBoolean isOver = new AtomicBoolean();
        ExecutorService executor = Executors.newCachedThreadPool();
        try (JdbcStore first = builder(new TestSource(url)).open();
                JdbcStore second = builder(new TestSource(url)).open();
                Holdfast one = Holdfast.builder(first).build();
                Holdfast two = Holdfast.builder(second).build()) {
            long[] newest = new long[4];
            AtomicInteger returns = new AtomicInteger();
            List<Future<?>> working = new ArrayList<>();
            for (Holdfast client : List.of(one, two, one, two)) {
                working.add(executor.submit(() -> {
                    for (int i = 0; !isOver.get(); i++) {
                        int which = i % newest.length;
                        try (Hold hold = client.lock("n" + which).acquire()) {
                            long token = hold.fencingToken();
                            assertThat(token).isGreaterThan(newest[which]);
                            if (token - newest[which] > A_TURN_AHEAD && newest[which] > 0) {
                                returns.incrementAndGet();
                            }
                            newest[which] = token;
                        }
                    }
                    return null;
                }));
            }
            long start = System.nanoTime();
            for (int lease = 0;
                    lease < 12 || returns.get() == 0 && System.nanoTime() - start < TimeUnit.SECONDS.toNanos(60);
                    lease++) {
                // A negative retention: even names used just now are dropped, and only recorded values keep tokens from
                // decreasing.
                JdbcStore store = lease % 2 == 0 ? first : second;
                store.housekeeping().run(IdlePolicy.ofMicros(-TimeUnit.SECONDS.toMicros(1)));
                // A run begins after the end of every statement that began before the last run.
                LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(200));
            }
            isOver.set(true);
            for (Future<?> worker : working) {
                worker.get(60, TimeUnit.SECONDS);
            }
            assertThat(returns).hasPositiveValue();
            first.housekeeping().run(IdlePolicy.ofMicros(-TimeUnit.SECONDS.toMicros(60)));
            first.housekeeping().run(IdlePolicy.ofMicros(-TimeUnit.SECONDS.toMicros(60)));
            assertThat(new TestSource(url).text("SELECT count(*) FROM holdfast_resource"))
                    .isEqualTo("0");
            executor.shutdown();
        }
    }
}
