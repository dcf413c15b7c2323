package dev.holdfast.store.sqlite;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import dev.holdfast.servers.sql.TestClient;
import dev.holdfast.spi.ClaimRef;
import dev.holdfast.spi.Command;
import dev.holdfast.spi.Kind;
import dev.holdfast.spi.Lease;
import dev.holdfast.spi.Order;
import dev.holdfast.spi.Reply;
import dev.holdfast.spi.ResourceName;
import dev.holdfast.spi.ResourceSpec;
import dev.holdfast.spi.Signal;
import dev.holdfast.spi.StoreException;
import dev.holdfast.spi.TokenBlock;
import java.time.Duration;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What ends a claim admits those behind it in the same transaction: they are notified without having polled. */
class SqliteHandOverTest extends OnManualTime {

    private static final ResourceSpec PERMITS = new ResourceSpec(Kind.SEMAPHORE, 3, Order.FAIR);
    private static final ResourceSpec LATCH = new ResourceSpec(Kind.LATCH, 1, Order.FAIR);

    private final BlockingQueue<Signal> signals = new LinkedBlockingQueue<>();

    SqliteHandOverTest() {
        super(Duration.ofDays(1));
    }

    @BeforeEach
    void subscribe() {
        store.subscribe(signals::add);
    }

    private void expectSignal(Predicate<Signal> expected) throws InterruptedException {
        Signal signal;
        do {
            signal = signals.poll(60, TimeUnit.SECONDS);
            assertThat(signal).as("the next signal").isNotNull();
        } while (!expected.test(signal));
    }

    private void expectNotified(ClaimRef claim) throws InterruptedException {
        expectSignal(signal ->
                signal instanceof Signal.Granted granted && granted.claim().equals(claim));
    }

    @CanIgnoreReturnValue
    private ClaimRef granted(TestClient session, int weight) {
        ClaimRef claim = session.ref("x");
        assertThat(session.acquire(claim, PERMITS, weight, Lease.SESSION)).isInstanceOf(Reply.Granted.class);
        return claim;
    }

    @CanIgnoreReturnValue
    private ClaimRef queued(TestClient session, int weight) {
        ClaimRef claim = session.ref("x");
        assertThat(session.acquire(claim, PERMITS, weight, Lease.SESSION)).isInstanceOf(Reply.Queued.class);
        return claim;
    }

    @Test
    void theEndOfASessionHandsItsLockOver() throws InterruptedException {
        TestClient ends = new TestClient(store);
        assertThat(ends.acquire(ends.ref("x"))).isInstanceOf(Reply.Granted.class);
        ClaimRef next = client.ref("x");
        assertThat(client.acquire(next)).isInstanceOf(Reply.Queued.class);

        ends.close();

        expectNotified(next);
    }

    @Test
    void theEndOfASessionHandsItsPermitsOver() throws InterruptedException {
        TestClient ends = new TestClient(store);
        granted(client, 1);
        granted(ends, 2);
        ClaimRef next = queued(client, 2);

        ends.close();

        expectNotified(next);
    }

    @Test
    void theEndOfASessionAdmitsThoseWhoWaitedBehindIt() throws InterruptedException {
        TestClient ends = new TestClient(store);
        granted(client, 1);
        queued(ends, 3);
        ClaimRef next = queued(client, 2);

        ends.close();

        expectNotified(next);
    }

    @Test
    void theFailedEndOfASessionHandsNothingOver() {
        TestClient ends = new TestClient(store);
        granted(client, 1);
        ClaimRef holder = granted(ends, 2);
        ClaimRef next = queued(client, 2);
        assertThat(client.acquire(client.ref("y"))).isInstanceOf(Reply.Granted.class);
        assertThat(ends.acquire(ends.ref("y"))).isInstanceOf(Reply.Queued.class);
        Database.run(file, "UPDATE holdfast_resource SET capacity = 0 WHERE name = CAST('y' AS BLOB)");

        assertThatThrownBy(ends::close)
                .isInstanceOfSatisfying(
                        StoreException.class, e -> assertThat(e.reason()).isEqualTo(StoreException.Reason.CORRUPT));
        client.keepAlive();

        assertThat(client.poll(next)).isInstanceOf(Reply.Queued.class);
        assertThat(ends.poll(holder)).isInstanceOf(Reply.Granted.class);
        assertThat(signals).isEmpty();
    }

    @Test
    void theLastCountAdmitsThoseWhoWaitAtTheLatch() throws InterruptedException {
        ResourceName latch = new ResourceName("x");
        client.send(new Command.SetCount(latch, client.session, 0, 1, 1), Reply.Count.class);
        ClaimRef waiter = client.ref("x");
        assertThat(client.acquire(waiter, LATCH, 0, Lease.SESSION)).isInstanceOf(Reply.Queued.class);

        client.send(new Command.CountDown(latch, 1, "first", 1), Reply.Count.class);

        expectNotified(waiter);
    }

    @Test
    void aGreaterCapacityAdmitsThoseWhoWait() throws InterruptedException {
        granted(client, 3);
        ClaimRef waiter = queued(client, 1);

        client.send(new Command.Resize(new ResourceName("x"), client.session, 0, 4), Reply.Done.class);

        expectNotified(waiter);
    }

    @Test
    void aWaiterThatASmallerCapacityCanNeverAdmitIsNotifiedThatItsClaimHasEnded() throws InterruptedException {
        granted(client, 1);
        ClaimRef heavy = queued(client, 3);

        client.send(new Command.Resize(new ResourceName("x"), client.session, 0, 2), Reply.Done.class);

        expectSignal(new Signal.Changed(heavy)::equals);
        assertThat(client.poll(heavy)).isInstanceOf(Reply.Absent.class);
    }

    @Test
    void aWaiterThatNoTokenIsLeftForIsNotifiedThatItsClaimHasEnded() throws InterruptedException {
        ClaimRef holder = client.ref("x");
        ClaimRef waiter = client.ref("x");
        assertThat(client.acquire(holder)).isInstanceOf(Reply.Granted.class);
        assertThat(client.acquire(waiter)).isInstanceOf(Reply.Queued.class);
        Database.run(file, "UPDATE holdfast_resource SET last_token = " + TokenBlock.MAX_TOKEN);

        client.release(holder);

        expectSignal(new Signal.Changed(waiter)::equals);
        assertThat(client.poll(waiter)).isInstanceOf(Reply.Absent.class);
    }
}
