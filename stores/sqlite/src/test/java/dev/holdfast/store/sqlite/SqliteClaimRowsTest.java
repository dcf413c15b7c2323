package dev.holdfast.store.sqlite;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.spi.ClaimRef;
import dev.holdfast.spi.Command;
import dev.holdfast.spi.Reply;
import java.time.Duration;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** The rows of claims, and the counts of them in the row of their resource. */
class SqliteClaimRowsTest extends OnManualTime {

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

    private long waiting() {
        return client.send(
                        new Command.Inspect("x", Optional.empty(), 1, Command.Inspect.Scope.NAME),
                        Reply.Inspected.class)
                .resources()
                .get(0)
                .waiting();
    }
}
