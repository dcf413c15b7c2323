package dev.holdfast.store.sqlite;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import dev.holdfast.servers.sql.StatementLog;
import dev.holdfast.servers.sql.TestClient;
import dev.holdfast.spi.ClaimRef;
import dev.holdfast.spi.Command;
import dev.holdfast.spi.Kind;
import dev.holdfast.spi.Lease;
import dev.holdfast.spi.Order;
import dev.holdfast.spi.Reply;
import dev.holdfast.spi.ResourceName;
import dev.holdfast.spi.ResourceSpec;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Polls of many claims read little and still detect every change. */
@Tag("C20")
class SqlitePollingTest {

    private static final int MANY = 200;
    private static final ResourceSpec PERMITS = new ResourceSpec(Kind.SEMAPHORE, 2, Order.FAIR);
    private static final ResourceSpec READERS = new ResourceSpec(Kind.READ_WRITE, Integer.MAX_VALUE, Order.FAIR);
    private static final ResourceSpec LATCH = new ResourceSpec(Kind.LATCH, 1, Order.FAIR);

    /** More than reading the version of the file and checking two processes. */
    private static final int FEW_STATEMENTS = 5;

    @TempDir
    Path directory;

    private final ManualTime time = new ManualTime();
    private final StatementLog log = new StatementLog("");
    private SqliteStore store;
    private SqliteStore theirs;
    private TestClient waiter;
    private TestClient holder;

    @BeforeEach
    void open() {
        Path file = directory.resolve("locks.db");
        theirs = SqliteStore.builder(file).clock(time).open();
        store = SqliteStore.builder(file).clock(time).between(log::observed).open();
        holder = new TestClient(theirs);
        waiter = new TestClient(store);
    }

    @AfterEach
    void close() {
        store.close();
        theirs.close();
    }

    private List<ClaimRef> refs(TestClient client, int count) {
        List<ClaimRef> refs = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            refs.add(client.ref("name/" + i));
        }
        return refs;
    }

    /** Claims of the waiter, each behind one of the holder's. */
    private List<ClaimRef> waiting(List<ClaimRef> grants) {
        grants.forEach(claim -> assertThat(holder.acquire(claim)).isInstanceOf(Reply.Granted.class));
        List<ClaimRef> waiting = refs(waiter, grants.size());
        waiting.forEach(claim -> assertThat(waiter.acquire(claim)).isInstanceOf(Reply.Queued.class));
        return waiting;
    }

    @CanIgnoreReturnValue
    private List<Reply.ClaimReply> poll(List<ClaimRef> claims) {
        return waiter.send(new Command.Poll(claims), Reply.Polled.class).states();
    }

    @CanIgnoreReturnValue
    private int statementsOfPoll(List<ClaimRef> claims) {
        int before = log.said().size();
        assertThat(poll(claims))
                .hasSize(claims.size())
                .allSatisfy(state -> assertThat(state).isInstanceOf(Reply.Queued.class));
        return log.said().size() - before;
    }

    @Test
    void nothingIsReadOfClaimsWhileTheFileHasNotChanged() {
        List<ClaimRef> waiting = waiting(refs(holder, MANY));
        poll(waiting);

        assertThat(statementsOfPoll(waiting)).isLessThanOrEqualTo(FEW_STATEMENTS);
    }

    @Test
    void norOfThoseThatWaitForPermitsOrSharesOrALatch() {
        holder.acquire(holder.ref("permits"), PERMITS, 2, Lease.SESSION);
        holder.acquire(holder.ref("share"), READERS, 1, Lease.SESSION);
        holder.send(new Command.SetCount(new ResourceName("latch"), holder.session, 0, 1, 1), Reply.Count.class);
        List<ClaimRef> waiting = List.of(waiter.ref("permits"), waiter.ref("share"), waiter.ref("latch"));
        waiter.acquire(waiting.get(0), PERMITS, 1, Lease.SESSION);
        waiter.acquire(waiting.get(1), READERS, Integer.MAX_VALUE, Lease.SESSION);
        waiter.acquire(waiting.get(2), LATCH, 0, Lease.SESSION);
        poll(waiting);

        assertThat(statementsOfPoll(waiting)).isLessThanOrEqualTo(FEW_STATEMENTS);

        holder.send(new Command.CountDown(new ResourceName("latch"), 1, "one", 1), Reply.Count.class);
        assertThat(poll(waiting).get(2)).isInstanceOf(Reply.Granted.class);
    }

    @Test
    void oneThatHasBecomeAGrantIsSeenAmongThoseThatWait() {
        List<ClaimRef> grants = refs(holder, 10);
        List<ClaimRef> waiting = waiting(grants);
        statementsOfPoll(waiting);

        holder.release(grants.get(3));

        List<Reply.ClaimReply> states = poll(waiting);
        for (int i = 0; i < states.size(); i++) {
            assertThat(states.get(i)).isInstanceOf(i == 3 ? Reply.Granted.class : Reply.Queued.class);
        }
    }

    @Test
    void oneOfOurOwnSessionsIsSeenToo() {
        ClaimRef own = waiter.ref("own");
        waiter.acquire(own);
        ClaimRef behind = waiter.ref("own");
        waiter.acquire(behind);
        assertThat(waiter.poll(behind)).isInstanceOf(Reply.Queued.class);

        waiter.release(own);

        assertThat(waiter.poll(behind)).isInstanceOf(Reply.Granted.class);
    }

    @Test
    void theEndOfALeaseIsSeenThoughNobodyHasWrittenAnything() {
        TestClient shortly = new TestClient(theirs, Duration.ofSeconds(30));
        shortly.granted("session");
        holder.acquire(holder.ref("lease"), ResourceSpec.MUTEX, 1, Lease.bounded(Duration.ofSeconds(10)));
        List<ClaimRef> waiting = List.of(waiter.ref("session"), waiter.ref("lease"));
        waiting.forEach(waiter::acquire);
        statementsOfPoll(waiting);

        time.advance(Duration.ofSeconds(10));
        assertThat(poll(waiting).get(0)).isInstanceOf(Reply.Queued.class);
        assertThat(poll(waiting).get(1)).isInstanceOf(Reply.Granted.class);
        time.advance(Duration.ofSeconds(20));
        assertThat(poll(waiting).get(0)).isInstanceOf(Reply.Granted.class);
    }

    /** Grants after the first one have their own rows, which are read by other statements. */
    @Test
    void theEndOfALeaseOfPermitsIsSeenThoughNobodyHasWrittenAnything() {
        TestClient shortly = new TestClient(theirs, Duration.ofSeconds(30));
        permits(shortly, "first", 1, Lease.SESSION);
        permits(holder, "first", 1, Lease.SESSION);
        permits(holder, "second", 1, Lease.SESSION);
        permits(shortly, "second", 1, Lease.SESSION);
        permits(holder, "lease", 1, Lease.SESSION);
        permits(holder, "lease", 1, Lease.bounded(Duration.ofSeconds(30)));
        permits(holder, "behind", 1, Lease.detached(Duration.ofHours(1)));
        permits(shortly, "behind", 2, Lease.SESSION);
        List<ClaimRef> waiting = new ArrayList<>();
        for (String name : List.of("first", "second", "lease", "behind")) {
            waiting.add(permits(waiter, name, 1, Lease.SESSION));
        }
        poll(waiting);
        assertThat(statementsOfPoll(waiting)).isLessThanOrEqualTo(FEW_STATEMENTS);

        time.advance(Duration.ofSeconds(30));

        assertThat(poll(waiting)).allSatisfy(state -> assertThat(state).isInstanceOf(Reply.Granted.class));
    }

    @Test
    void theEndOfTheWaitersSessionIsSeenThoughNobodyHasWrittenAnything() {
        TestClient shortly = new TestClient(store, Duration.ofSeconds(30));
        permits(holder, "x", 1, Lease.SESSION);
        permits(holder, "x", 1, Lease.SESSION);
        permits(holder, "x", 1, Lease.SESSION);
        ClaimRef waiting = permits(shortly, "x", 1, Lease.SESSION);
        poll(List.of(waiting));
        assertThat(statementsOfPoll(List.of(waiting))).isLessThanOrEqualTo(FEW_STATEMENTS);

        time.advance(Duration.ofSeconds(30));

        assertThat(poll(List.of(waiting))).singleElement().isInstanceOf(Reply.Absent.class);
    }

    @CanIgnoreReturnValue
    private static ClaimRef permits(TestClient session, String name, int weight, Lease lease) {
        ClaimRef claim = session.ref(name);
        session.acquire(claim, PERMITS, weight, lease);
        return claim;
    }

    @Test
    void theHeadOfTheQueueIsToBePolledEarlierThanTheOthers() {
        permits(holder, "one grant", 2, Lease.SESSION);
        permits(holder, "two grants", 1, Lease.SESSION);
        permits(holder, "two grants", 1, Lease.SESSION);
        for (String name : List.of("one grant", "two grants")) {
            Reply head = waiter.acquire(waiter.ref(name), PERMITS, 1, Lease.SESSION);
            Reply behind = waiter.acquire(waiter.ref(name), PERMITS, 1, Lease.SESSION);
            assertThat(head).isEqualTo(new Reply.Queued(Duration.ofMillis(40)));
            assertThat(behind).isEqualTo(new Reply.Queued(Duration.ofMillis(100)));
        }
    }

    @Test
    void whereTheFileChangesAllTheTimeManyClaimsAreReadNowAndThenOnly() {
        List<ClaimRef> grants = refs(holder, MANY);
        List<ClaimRef> waiting = waiting(grants);
        long deadline = System.nanoTime() + Duration.ofSeconds(60).toNanos();
        int fewest = Integer.MAX_VALUE;
        // The machine may be so slow that each poll is due to read them again.
        while (fewest > FEW_STATEMENTS && System.nanoTime() < deadline) {
            holder.keepAlive();
            fewest = Math.min(fewest, statementsOfPoll(waiting));
        }
        assertThat(fewest).isLessThanOrEqualTo(FEW_STATEMENTS);

        holder.release(grants.get(6));
        assertThat(waiter.poll(waiting.get(6)))
                .as("one that is polled for itself")
                .isInstanceOf(Reply.Granted.class);
        holder.release(grants.get(7));
        while (!(poll(waiting).get(7) instanceof Reply.Granted)) {
            assertThat(System.nanoTime()).as("deadline of the grant").isLessThan(deadline);
        }
    }

    @Test
    void theMoreWaitTheLaterTheyAreToBePolledAndNeverAfterAThirdOfTheTtl() {
        List<ClaimRef> waiting = waiting(refs(holder, MANY));
        assertThat(recheckOf(waiting.subList(0, 1))).isEqualTo(Duration.ofMillis(40));
        assertThat(recheckOf(waiting)).isBetween(Duration.ofMillis(45), Duration.ofMillis(100));
    }

    private Duration recheckOf(List<ClaimRef> claims) {
        List<Reply.ClaimReply> states = poll(claims);
        return ((Reply.Queued) states.get(states.size() - 1)).recheckIn();
    }
}
