package dev.holdfast.servers.sql;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.spi.ClaimRef;
import dev.holdfast.spi.Command;
import dev.holdfast.spi.Lease;
import dev.holdfast.spi.LockStore;
import dev.holdfast.spi.Reply;
import dev.holdfast.spi.ResourceInfo;
import dev.holdfast.spi.ResourceName;
import dev.holdfast.spi.ResourceSpec;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/**
 * What a program of version 1.0 and a present one do on the same tables, which the former has created, and the latter
 * has brought up to its own version meanwhile.
 */
public abstract class EarlierVersionRules {

    private static final ResourceName NAME = new ResourceName("ledger");
    private static final String KEY = NAME.value();
    private static final Duration LEASE = Duration.ofSeconds(20);

    private @Nullable LockStore store;

    /** Creates tables of version 1.0, and starts a program on them. */
    protected abstract EarlierProgram earlier() throws SQLException;

    /** Opens a store of the present version on them. */
    protected abstract LockStore present();

    /** The number in the first row of a query. */
    protected abstract long number(String query) throws SQLException;

    /** Runs housekeeping of the present version. */
    protected abstract void keepHouse(LockStore ofPresent);

    private LockStore open() {
        store = present();
        return store;
    }

    @AfterEach
    void close() {
        if (store != null) {
            store.close();
        }
    }

    private static ResourceInfo info(TestClient client) {
        return client.send(
                        new Command.Inspect(KEY, Optional.empty(), 10, Command.Inspect.Scope.NAME),
                        Reply.Inspected.class)
                .resources()
                .get(0);
    }

    @Test
    @DisplayName("They queue behind each other; the present one shows its messages, and the times it knows")
    void queue() throws SQLException {
        EarlierProgram earlier = earlier();
        long first = earlier.acquire(KEY, 1);
        assertThat(first).isPositive();
        TestClient alice = new TestClient(open());
        TestClient bob = new TestClient(alice.store);

        ClaimRef second = alice.ref(KEY);
        assertThat(alice.acquire(second)).isInstanceOf(Reply.Queued.class);
        assertThat(earlier.acquire(KEY, 2)).as("it waits").isZero();
        ClaimRef fourth = bob.ref(KEY);
        assertThat(bob.acquire(fourth, ResourceSpec.MUTEX, 1, Lease.bounded(LEASE)))
                .isInstanceOf(Reply.Queued.class);
        ResourceInfo info = info(alice);
        assertThat(info.holders()).singleElement().satisfies(holder -> {
            assertThat(holder.label()).isEqualTo(EarlierProgram.LABEL);
            assertThat(holder.annotation()).isEmpty();
        });
        assertThat(info.waiters())
                .extracting(waiter -> waiter.waited().isPresent())
                .containsExactly(true, false, true);

        earlier.release(KEY);
        Reply.Granted granted = (Reply.Granted) alice.poll(second);
        assertThat(granted.tokens().first()).isGreaterThan(first);
        alice.send(new Command.Annotate(second, 1, "release 4.2"), Reply.Done.class);
        assertThat(info(alice).holders().get(0).annotation()).isEqualTo("release 4.2");

        alice.send(new Command.Release(second, true), Reply.Released.class);
        assertThat(earlier.token(KEY, 2)).isGreaterThan(granted.tokens().last());
        assertThat(info(alice).holders().get(0).annotation()).isEmpty();

        // The claim has its time of queueing where a grant has the number of its last extension.
        earlier.release(KEY);
        assertThat(bob.poll(fourth)).isInstanceOf(Reply.Granted.class);
        Reply.Extended extended = bob.send(new Command.Extend(fourth, 1, LEASE.multipliedBy(2)), Reply.Extended.class);
        assertThat(extended.seq()).isEqualTo(1);
        assertThat(extended.remaining()).isGreaterThan(LEASE);
        assertThat(earlier.acquire(KEY, 3)).as("it waits").isZero();
        bob.release(fourth);
        assertThat(earlier.token(KEY, 3)).isPositive();
        earlier.release(KEY);
        assertThat(alice.granted(KEY).awaited()).isFalse();
    }

    @Test
    @DisplayName("They end each other's grants by force; what the earlier one leaves of a message is neither shown nor"
            + " kept, and it keeps the runs of tasks")
    void leave() throws SQLException {
        EarlierProgram earlier = earlier();
        TestClient alice = new TestClient(open());
        ClaimRef annotated = alice.ref(KEY);
        long token = ((Reply.Granted) alice.acquire(annotated)).tokens().first();
        alice.send(new Command.Annotate(annotated, 1, "release 4.2"), Reply.Done.class);
        alice.send(new Command.RecordRun(NAME, token, "a run"), Reply.Done.class);

        earlier.release(KEY);
        long next = earlier.acquire(KEY, 1);
        assertThat(next).isGreaterThan(token);
        assertThat(info(alice).holders().get(0).annotation()).isEmpty();
        alice.send(new Command.Release(annotated, true), Reply.Absent.class);
        alice.send(new Command.ForceRelease(NAME, next), Reply.Released.class);
        assertThat(earlier.token(KEY, 1)).as("it has lost its grant").isZero();

        ClaimRef left = alice.ref(KEY);
        assertThat(alice.acquire(left)).isInstanceOf(Reply.Granted.class);
        alice.send(new Command.Annotate(left, 1, "release 4.3"), Reply.Done.class);
        earlier.release(KEY);
        earlier.dropIdle(KEY);
        assertThat(number("SELECT count(*) FROM holdfast_annotation")).isEqualTo(2);
        keepHouse(alice.store);
        assertThat(number("SELECT count(*) FROM holdfast_annotation")).isZero();
        assertThat(alice.send(new Command.ListRuns(NAME), Reply.Runs.class).runs())
                .containsExactly(new Reply.Runs.Run(token, "a run"));
    }
}
