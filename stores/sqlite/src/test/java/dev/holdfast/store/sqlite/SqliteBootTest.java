package dev.holdfast.store.sqlite;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.servers.sql.TestClient;
import dev.holdfast.spi.ClaimRef;
import dev.holdfast.spi.Command;
import dev.holdfast.spi.Kind;
import dev.holdfast.spi.Lease;
import dev.holdfast.spi.Order;
import dev.holdfast.spi.Reply;
import dev.holdfast.spi.ResourceName;
import dev.holdfast.spi.ResourceSpec;
import dev.holdfast.spi.StoreException;
import dev.holdfast.spi.TokenBlock;
import dev.holdfast.spi.support.Tokens;
import dev.holdfast.store.ledger.runtime.SystemClock;
import dev.holdfast.store.sqlite.process.HostIdentity;
import dev.holdfast.store.sqlite.process.ProcFs;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The state of the file after a reboot. */
class SqliteBootTest {

    private static final ResourceSpec PERMITS = new ResourceSpec(Kind.SEMAPHORE, 3, Order.FAIR);

    @TempDir
    Path directory;

    private final ManualTime time = new ManualTime();

    private Path file() {
        return directory.resolve("locks.db");
    }

    private SqliteStore open(String boot) {
        return SqliteStore.builder(file()).clock(time).host(machine(boot)).open();
    }

    private static HostIdentity machine(String boot) {
        HostIdentity own = HostIdentity.of(ProcFs.ROOT, SystemClock.nanoTime());
        return new HostIdentity(
                boot, own.pidNamespace(), own.timeNamespace(), own.user(), own.self(), 0, own.hidesOthers());
    }

    @Test
    void everySessionEndedWithTheMachine() {
        try (SqliteStore before = open("boot-1")) {
            TestClient client = new TestClient(before);
            ClaimRef grant = client.ref("x");
            assertThat(client.acquire(grant)).isInstanceOf(Reply.Granted.class);
            assertThat(client.acquire(client.ref("x"))).isInstanceOf(Reply.Queued.class);
            assertThat(client.acquire(client.ref("s"), PERMITS, 1, Lease.SESSION))
                    .isInstanceOf(Reply.Granted.class);
            assertThat(client.acquire(client.ref("s"), PERMITS, 2, Lease.SESSION))
                    .isInstanceOf(Reply.Granted.class);

            try (SqliteStore after = open("boot-2")) {
                TestClient next = new TestClient(after);
                assertThat(next.poll(grant)).isInstanceOf(Reply.Absent.class);
                assertThat(next.granted("x").awaited()).isFalse();
                assertThat(next.acquire(next.ref("s"), PERMITS, 3, Lease.SESSION))
                        .isInstanceOf(Reply.Granted.class);
                assertThat(next.send(new Command.KeepAlive(client.session, 0))).isInstanceOf(Reply.SessionEnded.class);
            }
        }
    }

    @Test
    void detachedGrantsGoOnByTheWallClock() {
        ClaimRef grant;
        try (SqliteStore before = open("boot-1")) {
            TestClient client = new TestClient(before);
            grant = client.ref("x");
            assertThat(client.acquire(grant, ResourceSpec.MUTEX, 1, Lease.detached(Duration.ofMinutes(10))))
                    .isInstanceOf(Reply.Granted.class);
            time.advance(Duration.ofMinutes(1));
        }
        // Three minutes without power; the clock of the new boot starts again.
        time.advance(Duration.ofMinutes(3));
        time.stepMonotonic(Duration.ofMinutes(-10));

        try (SqliteStore after = open("boot-2")) {
            TestClient next = new TestClient(after);
            assertThat(next.poll(grant))
                    .isInstanceOfSatisfying(
                            Reply.Granted.class,
                            granted -> assertThat(granted.remaining()).contains(Duration.ofMinutes(6)));
            ClaimRef waiter = next.ref("x");
            assertThat(next.acquire(waiter)).isInstanceOf(Reply.Queued.class);

            time.advance(Duration.ofMinutes(6));
            next.keepAlive();
            assertThat(next.poll(waiter)).isInstanceOf(Reply.Granted.class);
        }
    }

    @Test
    void aDetachedGrantWhoseTimeIsOverIsFree() {
        try (SqliteStore before = open("boot-1")) {
            TestClient client = new TestClient(before);
            assertThat(client.acquire(client.ref("x"), ResourceSpec.MUTEX, 1, Lease.detached(Duration.ofMinutes(10))))
                    .isInstanceOf(Reply.Granted.class);
        }
        time.advance(Duration.ofMinutes(11));
        time.stepMonotonic(Duration.ofMinutes(-10));

        try (SqliteStore after = open("boot-2")) {
            assertThat(new TestClient(after).granted("x").awaited()).isFalse();
        }
    }

    @Test
    void aWallClockThatWentBackNeverEndsADetachedGrantEarly() {
        ClaimRef grant;
        try (SqliteStore before = open("boot-1")) {
            TestClient client = new TestClient(before);
            grant = client.ref("x");
            assertThat(client.acquire(grant, ResourceSpec.MUTEX, 1, Lease.detached(Duration.ofMinutes(10))))
                    .isInstanceOf(Reply.Granted.class);
        }
        time.stepWall(Duration.ofDays(-365));

        try (SqliteStore after = open("boot-2")) {
            assertThat(new TestClient(after).poll(grant))
                    .isInstanceOfSatisfying(
                            Reply.Granted.class,
                            granted -> assertThat(granted.remaining()).contains(Duration.ofMinutes(10)));
        }
    }

    /** What was recorded of the clocks when the lease last changed is then all that is known of them. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void whereTheWallClockWentBackTheRestOfADetachedGrantCountsFromItsLastChange(boolean isExtended) {
        Duration lease = Duration.ofMinutes(10);
        ClaimRef grant;
        try (SqliteStore before = open("boot-1")) {
            TestClient client = new TestClient(before);
            time.advance(Duration.ofMinutes(1));
            grant = client.ref("x");
            assertThat(client.acquire(grant, ResourceSpec.MUTEX, 1, Lease.detached(lease)))
                    .isInstanceOf(Reply.Granted.class);
            if (isExtended) {
                time.advance(Duration.ofMinutes(1));
                client.send(new Command.Extend(grant, 1, lease), Reply.Extended.class);
            }
        }
        time.stepWall(Duration.ofDays(-365));

        try (SqliteStore after = open("boot-2")) {
            assertThat(new TestClient(after).poll(grant))
                    .isInstanceOfSatisfying(
                            Reply.Granted.class,
                            granted -> assertThat(granted.remaining()).contains(lease));
        }
    }

    @Test
    void aLatchKeepsItsCount() {
        ResourceName latch = new ResourceName("ready");
        try (SqliteStore before = open("boot-1")) {
            TestClient client = new TestClient(before);
            assertThat(client.send(new Command.SetCount(latch, client.session, 0, 1, 3)))
                    .isEqualTo(new Reply.Count(1, 3));
            assertThat(client.send(new Command.CountDown(latch, 1, "a", 1))).isEqualTo(new Reply.Count(1, 2));
        }
        try (SqliteStore after = open("boot-2")) {
            TestClient next = new TestClient(after);
            assertThat(next.send(new Command.CountDown(latch, 1, "a", 1))).isEqualTo(new Reply.Count(1, 2));
            assertThat(next.send(new Command.CountDown(latch, 1, "b", 2))).isEqualTo(new Reply.Count(1, 0));
        }
    }

    /**
     * With synchronous = NORMAL a power failure may undo the last commits; then the counter has an earlier value, and
     * the wall clock may be wrong.
     */
    @Test
    void tokensRiseOverLostCommitsAndALostClock() {
        TokenBlock last;
        try (SqliteStore before = open("boot-1")) {
            TestClient client = new TestClient(before);
            for (int i = 0; i < 100; i++) {
                time.advance(Duration.ofMillis(700));
                client.granted("x" + i);
            }
            time.advance(Duration.ofMillis(700));
            ClaimRef claim = client.ref("y");
            TokenBlock first = ((Reply.Granted) client.acquire(claim)).tokens();
            Reply.Advanced ahead = client.send(
                    new Command.Advance(claim, first.last(), 200, first.last() + 9_000_000_000L), Reply.Advanced.class);
            last = ahead.tokens();
        }
        // The counters were not flushed. The horizon was; otherwise those tokens would not have been granted.
        Database.run(file(), "UPDATE holdfast_resource SET last_token = 5");
        time.stepWall(Duration.ofDays(-30));

        try (SqliteStore after = open("boot-2")) {
            TestClient next = new TestClient(after);
            for (String name : new String[] {"x1", "x2", "y", "new"}) {
                assertThat(next.granted(name).tokens().first()).isGreaterThan(last.last());
            }
        }
    }

    @Test
    void noTokenIsRepeatedWhereTheClockHasNearlyCaughtUpWithTheLostCommits() {
        try (SqliteStore before = open("boot-1")) {
            new TestClient(before).granted("x");
        }
        long highest = horizon();
        Database.run(file(), "UPDATE holdfast_resource SET session = 0, last_token = 5");
        time.stepWall(Duration.ofNanos(1_000 * (Tokens.micros(highest) - Tokens.LEAD_MICROS / 2 - time.unixMicros())));

        try (SqliteStore after = open("boot-2")) {
            TestClient next = new TestClient(after);
            // The first grant raises the horizon, so that the second one needs one statement only.
            assertThat(next.granted("new").tokens().first()).isGreaterThan(highest);
            assertThat(next.granted("x").tokens().first()).isGreaterThan(highest);
        }
    }

    /** A token above the horizon could be granted again after a power failure. */
    @Test
    void theHorizonRisesBeforeATokenAboveItIsGranted() {
        try (SqliteStore store = open("boot-1")) {
            TestClient client = new TestClient(store);
            for (int i = 0; i < 20; i++) {
                ClaimRef claim = client.ref("x");
                TokenBlock tokens = ((Reply.Granted) client.acquire(claim)).tokens();
                assertThat(tokens.last()).isLessThanOrEqualTo(horizon());
                client.release(claim);
                time.advance(Duration.ofSeconds(1));
            }
        }
    }

    private long horizon() {
        return Database.number(file(), "SELECT horizon FROM holdfast_meta");
    }

    @Test
    void afterABootTokensFollowTheClockAgainSoon() {
        try (SqliteStore before = open("boot-1")) {
            assertThat(new TestClient(before).granted("x").tokens().first()).isPositive();
        }
        time.advance(Duration.ofSeconds(20));

        try (SqliteStore after = open("boot-2")) {
            Reply.Granted granted = (Reply.Granted) acquireMany(new TestClient(after), "x", 1_000);
            assertThat(granted.tokens().first()).isEqualTo(Tokens.floor(time.unixMicros()));
            assertThat(granted.tokens().size()).isEqualTo(1_000);
        }
    }

    private static Reply acquireMany(TestClient client, String name, int tokens) {
        return client.send(new Command.Acquire(
                client.ref(name),
                0,
                Command.Sending.FIRST,
                ResourceSpec.MUTEX,
                1,
                Lease.SESSION,
                Command.Waiting.TRY,
                tokens));
    }

    @Test
    void twoMachinesThatShareAFileAreNoticed() {
        try (SqliteStore here = open("boot-1")) {
            TestClient client = new TestClient(here);
            try (SqliteStore there = open("boot-2")) {
                assertThat(new TestClient(there).granted("x").awaited()).isFalse();
                long deadline = System.nanoTime() + Duration.ofSeconds(60).toNanos();
                assertThatThrownBy(() -> {
                            while (System.nanoTime() < deadline) {
                                client.send(new Command.Inspect("", Optional.empty(), 1));
                            }
                        })
                        .isInstanceOf(StoreException.class)
                        .hasMessageContaining("another machine");
            }
        }
    }

    @Test
    void programsThatCountByDifferentClocksDoNotMix() {
        try (SqliteStore here = open("boot-1")) {
            TestClient client = new TestClient(here);
            assertThatThrownBy(() -> open(HostIdentity.WALL))
                    .isInstanceOf(StoreException.class)
                    .hasMessageContaining("with different clocks");
            client.close();
        }
        open(HostIdentity.WALL).close();
    }

    @Test
    void aClockThatIsBehindTheOthersIsRefused() {
        try (SqliteStore here = open("boot-1")) {
            new TestClient(here).keepAlive();
            time.stepMonotonic(Duration.ofMinutes(-1));

            assertThatThrownBy(() -> open("boot-1"))
                    .isInstanceOf(StoreException.class)
                    .hasMessageContaining("behind");
        }
    }
}
