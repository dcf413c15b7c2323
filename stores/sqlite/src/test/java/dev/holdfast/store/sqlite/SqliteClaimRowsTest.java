package dev.holdfast.store.sqlite;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import dev.holdfast.servers.sql.TestClient;
import dev.holdfast.spi.ClaimRef;
import dev.holdfast.spi.Command;
import dev.holdfast.spi.Kind;
import dev.holdfast.spi.Lease;
import dev.holdfast.spi.Order;
import dev.holdfast.spi.Reply;
import dev.holdfast.spi.ResourceInfo;
import dev.holdfast.spi.ResourceSpec;
import java.time.Duration;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** The rows of claims, and the counts of them in the row of their resource. */
class SqliteClaimRowsTest extends OnManualTime {

    private static final ResourceSpec PERMITS = new ResourceSpec(Kind.SEMAPHORE, 3, Order.FAIR);

    SqliteClaimRowsTest() {
        super(Duration.ofDays(1));
    }

    private void deleteResources() {
        Database.run(file, "DELETE FROM holdfast_resource");
    }

    @Test
    void claimsOfAResourceWhoseRowWasDeletedAreNotInTheQueueOfTheNewOne() {
        assertThat(client.acquire(client.ref("x"))).isInstanceOf(Reply.Granted.class);
        ClaimRef lost = client.ref("x");
        assertThat(client.acquire(lost)).isInstanceOf(Reply.Queued.class);

        deleteResources();

        ClaimRef holder = client.ref("x");
        ClaimRef waiter = client.ref("x");
        assertThat(client.acquire(holder)).isInstanceOf(Reply.Granted.class);
        assertThat(client.acquire(waiter)).isInstanceOf(Reply.Queued.class);
        assertThat(client.poll(lost)).isInstanceOf(Reply.Absent.class);
        client.release(holder);
        assertThat(client.poll(waiter)).isInstanceOf(Reply.Granted.class);
    }

    @Test
    void theEndOfASessionDropsItsClaimsOfAResourceWhoseRowWasDeleted() {
        assertThat(client.acquire(client.ref("x"))).isInstanceOf(Reply.Granted.class);
        assertThat(client.acquire(client.ref("x"))).isInstanceOf(Reply.Queued.class);

        deleteResources();
        client.close();

        assertThat(Database.number(file, "SELECT count(*) FROM holdfast_claim")).isZero();
    }

    @Test
    void aWithdrawnWaiterIsNotCounted() {
        ClaimRef holder = client.ref("x");
        ClaimRef gone = client.ref("x");
        ClaimRef waiter = client.ref("x");
        assertThat(client.acquire(holder)).isInstanceOf(Reply.Granted.class);
        assertThat(client.acquire(gone)).isInstanceOf(Reply.Queued.class);
        assertThat(client.acquire(waiter)).isInstanceOf(Reply.Queued.class);
        assertThat(waiting()).isEqualTo(2);

        client.send(new Command.Withdraw(gone, Command.Sending.FIRST), Reply.Done.class);

        assertThat(waiting()).isEqualTo(1);
        client.release(holder);
        assertThat(client.poll(waiter))
                .isInstanceOfSatisfying(
                        Reply.Granted.class,
                        granted -> assertThat(granted.awaited()).isFalse());
    }

    @Test
    void anInspectionShowsNoDeadHolder() {
        TestClient dies = new TestClient(store, Duration.ofMinutes(1));
        ClaimRef holder = permits(client, 1, Lease.SESSION);
        permits(dies, 1, Lease.SESSION);
        assertThat(inspection().holders()).hasSize(2);

        time.advance(Duration.ofMinutes(1));

        assertThat(inspection().holders()).extracting(ResourceInfo.Party::claim).containsExactly(holder);
    }

    @Test
    void anInspectionShowsNoDeadWaiter() {
        TestClient dies = new TestClient(store, Duration.ofMinutes(1));
        permits(client, 3, Lease.SESSION);
        ClaimRef head = permits(client, 1, Lease.SESSION);
        permits(dies, 1, Lease.SESSION);
        assertThat(inspection().waiters()).hasSize(2);

        time.advance(Duration.ofMinutes(1));

        assertThat(inspection().waiters()).extracting(ResourceInfo.Party::claim).containsExactly(head);
        assertThat(waiting()).isEqualTo(1);
    }

    @Test
    void anAuditNamesNoGrantWhoseLeaseHasExpired() {
        client.acquire(client.ref("x"), ResourceSpec.MUTEX, 1, Lease.bounded(Duration.ofHours(1)));
        ClaimRef held = client.ref("y");
        client.acquire(held);

        time.advance(Duration.ofHours(1));

        Reply.Audited audited =
                client.send(new Command.Audit(client.session, Optional.empty(), 10), Reply.Audited.class);
        assertThat(audited.granted()).containsExactly(held);
    }

    @Test
    void aLeaseOfItsOwnOnANameThatWasUsedBeforeLastsAsLongAsRequested() {
        useOnce("x");
        assertThat(client.acquire(client.ref("x"), ResourceSpec.MUTEX, 1, Lease.bounded(Duration.ofMinutes(2))))
                .isInstanceOf(Reply.Granted.class);
        ClaimRef waiter = client.ref("x");
        assertThat(client.acquire(waiter)).isInstanceOf(Reply.Queued.class);

        time.advance(Duration.ofMinutes(1));
        assertThat(client.poll(waiter)).isInstanceOf(Reply.Queued.class);
        time.advance(Duration.ofMinutes(1));
        assertThat(client.poll(waiter)).isInstanceOf(Reply.Granted.class);
    }

    @Test
    void aDetachedGrantOfANameThatWasUsedBeforeOutlivesItsSession() {
        useOnce("x");
        TestClient ends = new TestClient(store);
        assertThat(ends.acquire(ends.ref("x"), ResourceSpec.MUTEX, 1, Lease.detached(Duration.ofHours(1))))
                .isInstanceOf(Reply.Granted.class);

        ends.close();

        assertThat(client.acquire(client.ref("x"))).isInstanceOf(Reply.Queued.class);
    }

    /** Inserts the row of a name, so that a later acquire, with a new token by the clock, is a single statement. */
    private void useOnce(String name) {
        ClaimRef claim = client.ref(name);
        assertThat(client.acquire(claim)).isInstanceOf(Reply.Granted.class);
        client.release(claim);
        time.advance(Duration.ofSeconds(1));
    }

    @CanIgnoreReturnValue
    private static ClaimRef permits(TestClient session, int weight, Lease lease) {
        ClaimRef claim = session.ref("x");
        session.acquire(claim, PERMITS, weight, lease);
        return claim;
    }

    private ResourceInfo inspection() {
        return client.send(
                        new Command.Inspect("x", Optional.empty(), 1, Command.Inspect.Scope.NAME),
                        Reply.Inspected.class)
                .resources()
                .get(0);
    }

    private long waiting() {
        return inspection().waiting();
    }
}
