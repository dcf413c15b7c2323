package dev.holdfast.store.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import dev.holdfast.servers.MostlyWaits;
import dev.holdfast.servers.sql.TestClient;
import dev.holdfast.servers.sql.TestDatabase;
import dev.holdfast.spi.ClaimRef;
import dev.holdfast.spi.Command;
import dev.holdfast.spi.Command.Sending;
import dev.holdfast.spi.Command.Waiting;
import dev.holdfast.spi.Kind;
import dev.holdfast.spi.Lease;
import dev.holdfast.spi.LockStore;
import dev.holdfast.spi.Order;
import dev.holdfast.spi.Reply;
import dev.holdfast.spi.ResourceName;
import dev.holdfast.spi.ResourceSpec;
import dev.holdfast.store.jdbc.server.IdlePolicy;
import dev.holdfast.store.ledger.table.SessionRow;
import dev.holdfast.store.sqlite.SqliteHooks;
import dev.holdfast.store.sqlite.SqliteStore;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Each kind of row is deleted under each kind of lock: its own state is lost, and everything else continues. */
@DisplayName("A row that somebody has deleted by hand")
@Tag("mysql")
@Tag("server")
@Tag("postgres")
class DeletedRowsTest {

    private static final String NAME = "a";
    private static final ResourceSpec PERMITS = new ResourceSpec(Kind.SEMAPHORE, 10, Order.FAIR);
    private static final ResourceSpec READ_WRITE = new ResourceSpec(Kind.READ_WRITE, Integer.MAX_VALUE, Order.FAIR);
    private static final ResourceSpec LATCH = new ResourceSpec(Kind.LATCH, 1, Order.FAIR);
    private static final Lease DETACHED = Lease.detached(Duration.ofHours(1));

    private HandledTables tables;
    private LockStore store;
    private TestClient one;
    private TestClient two;
    private long newest;

    private void use(TestDatabase database) {
        tables = new HandledTables(database);
        store = tables.open();
        one = new TestClient(store);
        two = new TestClient(store);
    }

    @AfterEach
    void end() {
        if (store != null) {
            store.close();
        }
    }

    // Short names

    @CanIgnoreReturnValue
    private ClaimRef granted(TestClient client, ResourceSpec spec, int weight) {
        return granted(client, spec, weight, Lease.SESSION);
    }

    private ClaimRef granted(TestClient client, ResourceSpec spec, int weight, Lease lease) {
        ClaimRef claim = client.ref(NAME);
        newToken(client.acquire(claim, spec, weight, lease));
        return claim;
    }

    private ClaimRef queued(TestClient client, ResourceSpec spec, int weight) {
        ClaimRef claim = client.ref(NAME);
        assertThat(client.acquire(claim, spec, weight, Lease.SESSION)).isInstanceOf(Reply.Queued.class);
        return claim;
    }

    @CanIgnoreReturnValue
    private List<ClaimRef> queue(int count, ResourceSpec spec, int weight) {
        return IntStream.range(0, count)
                .mapToObj(i -> queued(i % 2 == 0 ? one : two, spec, weight))
                .toList();
    }

    private Reply state(ClaimRef claim) {
        return one.poll(claim);
    }

    private void expectGranted(ClaimRef claim) {
        newToken(state(claim));
    }

    private void newToken(Reply reply) {
        assertThat(reply).isInstanceOf(Reply.Granted.class);
        long token = ((Reply.Granted) reply).tokens().first();
        assertThat(token).isGreaterThan(newest);
        newest = ((Reply.Granted) reply).tokens().last();
    }

    private Reply tried(TestClient client, ResourceSpec spec, int weight) {
        return client.send(
                new Command.Acquire(client.ref(NAME), 0, Sending.FIRST, spec, weight, Lease.SESSION, Waiting.TRY, 1));
    }

    /** Once all sessions have ended, none of their rows is left, and the name is free. */
    private void endAll() {
        one.close();
        two.close();
        TestClient last = new TestClient(store);
        ClaimRef claim = last.ref(NAME);
        newToken(last.acquire(claim, new ResourceSpec(Kind.SEMAPHORE, 3, Order.BARGING), 3, Lease.SESSION));
        last.release(claim);
        last.close();
        if (store instanceof JdbcStore server) {
            server.housekeeping().run(IdlePolicy.USUAL);
        } else if (store instanceof SqliteStore file) {
            SqliteHooks.clean(file);
        }
        assertThat(tables.count("claim")).isZero();
        assertThat(tables.count("session")).isZero();
    }

    // Waiters

    @ParameterizedTest
    @EnumSource
    @DisplayName("of one who waited for a mutex is nobody's any more: the others get it in their order")
    void waiter(TestDatabase database) {
        use(database);
        ClaimRef grant = granted(one, ResourceSpec.MUTEX, 1);
        List<ClaimRef> waiting = queue(7, ResourceSpec.MUTEX, 1);
        for (int gone : new int[] {0, 3, 6}) {
            tables.deleteClaim(waiting.get(gone));
        }
        for (int next : new int[] {1, 2, 4, 5}) {
            one.release(grant);
            grant = waiting.get(next);
            expectGranted(grant);
        }
        for (int gone : new int[] {0, 3, 6}) {
            assertThat(state(waiting.get(gone))).isInstanceOf(Reply.Absent.class);
        }
        one.release(grant);
        grant = granted(two, ResourceSpec.MUTEX, 1);
        ClaimRef last = queued(one, ResourceSpec.MUTEX, 1);
        two.release(grant);
        expectGranted(last);
        endAll();
    }

    @ParameterizedTest
    @EnumSource
    @DisplayName("of the only one who waited is not waited for by who yields, tries, goes on or comes next")
    void onlyWaiter(TestDatabase database) {
        use(database);
        for (int step = 0; step < 5; step++) {
            ClaimRef grant = granted(one, ResourceSpec.MUTEX, 1);
            tables.deleteClaim(queued(two, ResourceSpec.MUTEX, 1));
            if (step == 0) {
                one.release(grant);
            } else if (step == 1) {
                Reply.Advanced more = one.send(new Command.Advance(grant, newest, 10, 0), Reply.Advanced.class);
                newest = more.tokens().last();
                assertThat(more.awaited()).isFalse();
            } else if (step == 2) {
                ClaimRef next = one.ref(NAME);
                newToken(one.send(new Command.Yield(
                        grant,
                        new Command.Acquire(
                                next, 0, Sending.FIRST, ResourceSpec.MUTEX, 1, Lease.SESSION, Waiting.QUEUE, 1))));
                grant = next;
            } else if (step == 3) {
                assertThat(tried(two, ResourceSpec.MUTEX, 1)).isInstanceOf(Reply.Refused.class);
            } else {
                ClaimRef behind = queued(two, ResourceSpec.MUTEX, 1);
                one.release(grant);
                expectGranted(behind);
                grant = behind;
            }
            assertThat(one.send(new Command.Release(grant))).isInstanceOfAny(Reply.Released.class, Reply.Absent.class);
        }
        endAll();
    }

    @ParameterizedTest
    @EnumSource
    @DisplayName("of one who waited for permits lets those behind go on, the heavy and the light")
    void waiterForPermits(TestDatabase database) {
        use(database);
        ClaimRef grant = granted(one, PERMITS, 10);
        List<ClaimRef> waiting = List.of(
                queued(two, PERMITS, 9), queued(one, PERMITS, 4), queued(two, PERMITS, 6), queued(one, PERMITS, 10));
        tables.deleteClaim(waiting.get(0));
        tables.deleteClaim(waiting.get(3));
        one.release(grant);
        expectGranted(waiting.get(1));
        expectGranted(waiting.get(2));
        one.release(waiting.get(1));
        one.release(waiting.get(2));
        newToken(tried(two, PERMITS, 10));
        endAll();
    }

    @ParameterizedTest
    @EnumSource
    @DisplayName("of one who waited at a latch keeps nobody from passing, and no latch from being set again")
    void waiterAtLatch(TestDatabase database) {
        use(database);
        ResourceName latch = new ResourceName(NAME);
        for (int generation = 1; generation <= 3; generation++) {
            one.send(new Command.SetCount(latch, one.session, 0, generation, 1), Reply.Count.class);
            List<ClaimRef> waiting = queue(5, LATCH, 0);
            if (generation < 3) {
                tables.deleteClaim(waiting.get(0));
                tables.deleteClaim(waiting.get(4));
            } else {
                tables.run("DELETE FROM holdfast_claim");
            }
            one.send(new Command.CountDown(latch, generation, "g" + generation, 1), Reply.Count.class);
            for (ClaimRef claim : waiting.subList(1, 4)) {
                assertThat(state(claim)).isInstanceOf(generation < 3 ? Reply.Granted.class : Reply.Absent.class);
                // A claim that has passed and is deleted does not prevent setting the latch.
                if (claim == waiting.get(2)) {
                    tables.deleteClaim(claim);
                }
                one.send(new Command.Release(claim));
            }
        }
        endAll();
    }

    // Holders

    @ParameterizedTest
    @EnumSource
    @DisplayName("of one who held permits gives them free: who waits gets them when it looks, and who tries at once")
    void holderOfPermits(TestDatabase database) {
        use(database);
        List<ClaimRef> grants = new ArrayList<>();
        for (int weight : new int[] {1, 2, 3, 4}) {
            grants.add(granted(weight % 2 == 0 ? one : two, PERMITS, weight));
        }
        ClaimRef waits = queued(one, PERMITS, 3);
        ClaimRef behind = queued(two, PERMITS, 4);
        tables.deleteClaim(grants.get(2));
        expectGranted(waits);
        assertThat(state(behind)).isInstanceOf(Reply.Queued.class);
        assertThat(two.send(new Command.Release(grants.get(2)))).isInstanceOf(Reply.Absent.class);
        one.release(grants.get(3));
        expectGranted(behind);
        tables.deleteClaim(behind);
        newToken(tried(one, PERMITS, 4));
        assertThat(tried(one, PERMITS, 1)).isInstanceOf(Reply.Refused.class);
        // All at once; the first is inline.
        tables.run("DELETE FROM holdfast_claim");
        newToken(tried(one, PERMITS, 9));
        endAll();
    }

    @ParameterizedTest
    @EnumSource
    @DisplayName("of a reader lets a writer in when the others have gone")
    void reader(TestDatabase database) {
        use(database);
        List<ClaimRef> readers = IntStream.range(0, 5)
                .mapToObj(i -> granted(i % 2 == 0 ? one : two, READ_WRITE, 1))
                .toList();
        ClaimRef writer = queued(two, READ_WRITE, Integer.MAX_VALUE);
        List<ClaimRef> behind = queue(2, READ_WRITE, 1);
        tables.deleteClaim(readers.get(2));
        tables.deleteClaim(readers.get(4));
        for (int left : new int[] {0, 1, 3}) {
            assertThat(state(writer)).isInstanceOf(Reply.Queued.class);
            one.release(readers.get(left));
        }
        expectGranted(writer);
        tables.deleteClaim(behind.get(0));
        one.release(writer);
        expectGranted(behind.get(1));
        endAll();
    }

    @ParameterizedTest
    @EnumSource
    @DisplayName("of a lock with a lease of its own gives it to the next, or to a lock of another kind")
    void detachedHolder(TestDatabase database) {
        use(database);
        ClaimRef grant = granted(one, ResourceSpec.MUTEX, 1, DETACHED);
        ClaimRef waits = queued(two, ResourceSpec.MUTEX, 1);
        tables.deleteClaim(grant);
        expectGranted(waits);
        assertThat(one.send(new Command.Extend(grant, 1, Duration.ofHours(1)))).isInstanceOf(Reply.Absent.class);
        two.release(waits);
        tables.deleteClaim(granted(one, ResourceSpec.MUTEX, 1, DETACHED));
        newToken(tried(two, PERMITS, 10));
        endAll();
    }

    // Sessions

    @ParameterizedTest
    @EnumSource
    @DisplayName("of a session ends all that it held and waited for, and nobody else's")
    void session(TestDatabase database) {
        use(database);
        TestClient gone = new TestClient(store);
        granted(gone, PERMITS, 2);
        ClaimRef stays = granted(one, PERMITS, 3);
        granted(gone, PERMITS, 4);
        ClaimRef first = queued(gone, PERMITS, 10);
        ClaimRef second = queued(two, PERMITS, 7);
        tables.run("DELETE FROM holdfast_session WHERE id = " + SessionRow.numberOf(gone.session));
        gone.send(new Command.KeepAlive(gone.session, 0), Reply.SessionEnded.class);
        expectGranted(second);
        assertThat(state(first)).isInstanceOf(Reply.Absent.class);
        assertThat(state(stays)).isInstanceOf(Reply.Granted.class);
        endAll();
    }

    // Resources

    @ParameterizedTest
    @EnumSource
    @DisplayName("of a name ends all that was on it; it begins anew with greater tokens")
    void name(TestDatabase database) {
        use(database);
        List<ClaimRef> before = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            before.add(granted(i % 2 == 0 ? one : two, PERMITS, 3));
        }
        before.addAll(queue(5, PERMITS, 4));
        tables.run("DELETE FROM holdfast_resource");
        before.forEach(claim -> assertThat(state(claim)).isInstanceOf(Reply.Absent.class));
        ClaimRef grant = granted(two, ResourceSpec.MUTEX, 1);
        before.forEach(claim -> assertThat(state(claim)).isInstanceOf(Reply.Absent.class));
        List<ClaimRef> waiting = queue(6, ResourceSpec.MUTEX, 1);
        before.forEach(claim -> assertThat(state(claim)).isInstanceOf(Reply.Absent.class));
        for (ClaimRef next : waiting) {
            assertThat(state(next)).isInstanceOf(Reply.Queued.class);
            one.release(grant);
            expectGranted(next);
            grant = next;
        }
        endAll();
    }

    @ParameterizedTest
    @EnumSource
    @DisplayName("of a name that nobody uses again leaves nothing behind when the sessions have ended")
    void nameForGood(TestDatabase database) {
        use(database);
        granted(one, PERMITS, 3);
        granted(two, PERMITS, 3);
        queue(5, PERMITS, 5);
        tables.run("DELETE FROM holdfast_resource");
        endAll();
    }

    @ParameterizedTest
    @EnumSource
    @DisplayName("beside a thousand others is found out by whoever needs it")
    void manyOfOneName(TestDatabase database) {
        use(database);
        ClaimRef grant = granted(one, READ_WRITE, 1);
        for (int i = 0; i < 40; i++) {
            granted(two, READ_WRITE, 1);
        }
        tables.run("DELETE FROM holdfast_claim WHERE claim % 2 = 0");
        ClaimRef writer = queued(one, READ_WRITE, Integer.MAX_VALUE);
        one.release(grant);
        two.close();
        expectGranted(writer);
        endAll();
    }

    @ParameterizedTest
    @EnumSource
    @MostlyWaits
    @DisplayName("by a statement that runs beside those of clients is lost data, and no error of theirs")
    void meanwhile(TestDatabase database) {
        use(database);
        ClaimRef grant = granted(one, ResourceSpec.MUTEX, 1);
        for (int i = 0; i < 60; i++) {
            List<ClaimRef> waiting = queue(3, ResourceSpec.MUTEX, 1);
            Thread hand = new Thread(() -> tables.run("DELETE FROM holdfast_claim"));
            hand.start();
            assertThat(one.send(new Command.Release(grant))).isInstanceOf(Reply.Released.class);
            join(hand);
            ClaimRef last = two.ref(NAME);
            assertThat(two.acquire(last)).isInstanceOfAny(Reply.Granted.class, Reply.Queued.class);
            // Deletions may fail, also those of the tests beside this one.
            Awaitility.await()
                    .dontCatchUncaughtExceptions()
                    .atMost(60, TimeUnit.SECONDS)
                    .until(() -> {
                        waiting.forEach(
                                claim -> one.send(new Command.Withdraw(claim, Sending.FIRST), Reply.Done.class));
                        return state(last) instanceof Reply.Granted;
                    });
            grant = last;
        }
        two.release(grant);
        endAll();
    }

    private static void join(Thread thread) {
        try {
            thread.join(TimeUnit.MINUTES.toMillis(1));
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }
}
