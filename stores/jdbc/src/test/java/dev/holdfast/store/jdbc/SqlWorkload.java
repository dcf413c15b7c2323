package dev.holdfast.store.jdbc;

import dev.holdfast.servers.sql.TestClient;
import dev.holdfast.spi.CallerMode;
import dev.holdfast.spi.ClaimRef;
import dev.holdfast.spi.Command;
import dev.holdfast.spi.Command.Acquire;
import dev.holdfast.spi.Command.Advance;
import dev.holdfast.spi.Command.Audit;
import dev.holdfast.spi.Command.CountDown;
import dev.holdfast.spi.Command.Extend;
import dev.holdfast.spi.Command.ForceRelease;
import dev.holdfast.spi.Command.Inspect;
import dev.holdfast.spi.Command.ListRuns;
import dev.holdfast.spi.Command.Poll;
import dev.holdfast.spi.Command.RecordRun;
import dev.holdfast.spi.Command.Release;
import dev.holdfast.spi.Command.Resize;
import dev.holdfast.spi.Command.Sending;
import dev.holdfast.spi.Command.SetCount;
import dev.holdfast.spi.Command.ShrinkTo;
import dev.holdfast.spi.Command.Waiting;
import dev.holdfast.spi.Command.Withdraw;
import dev.holdfast.spi.Command.Yield;
import dev.holdfast.spi.Kind;
import dev.holdfast.spi.Lease;
import dev.holdfast.spi.Order;
import dev.holdfast.spi.Reply;
import dev.holdfast.spi.ResourceName;
import dev.holdfast.spi.ResourceSpec;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

/** Clients of one store that send every command, both on the fast path and through the ledger. */
final class SqlWorkload {

    static final int QUEUE = 300;

    private static final ResourceSpec PERMITS = new ResourceSpec(Kind.SEMAPHORE, 3, Order.FAIR);
    private static final ResourceSpec SHARED = new ResourceSpec(Kind.READ_WRITE, Integer.MAX_VALUE, Order.FAIR);
    private static final ResourceSpec LATCH = new ResourceSpec(Kind.LATCH, 1, Order.FAIR);
    private static final ResourceName TASK = new ResourceName("task");
    private static final Duration MINUTE = Duration.ofMinutes(1);
    private static final int TOGETHER = 8;

    private final JdbcStore store;
    private final SqlTables tables;
    private final TestClient one;
    private final TestClient other;
    private long runs;

    SqlWorkload(JdbcStore store, SqlTables tables) {
        this.store = store;
        this.tables = tables;
        this.one = new TestClient(store);
        this.other = new TestClient(store);
    }

    /** The frequent commands of clients of locks, permits and latches. */
    void locks() throws SQLException {
        one.keepAlive();
        alone();
        sendBatch();
        inShortQueue();
        permits();
        ofTime();
        latch();
        one.send(new RecordRun(TASK, ++runs, "a run"), Reply.Done.class);
        one.send(new ListRuns(TASK), Reply.Runs.class);
    }

    /** Needs waiting sessions, from {@link SqlTables#fill}. */
    void inLongQueue() throws SQLException {
        ClaimRef grant = one.ref(tables.unused());
        one.send(single(grant), Reply.Granted.class);
        tables.queue(grant.resource().value(), QUEUE);
        ClaimRef last = other.ref(grant.resource().value());
        other.acquire(last);
        other.send(new Poll(List.of(last)), Reply.Polled.class);
        Acquire again = single(one.ref(grant.resource().value()));
        one.send(new Yield(grant, again), Reply.Queued.class);
        one.send(new Poll(List.of(again.claim())), Reply.Polled.class);
        one.send(new Withdraw(again.claim(), Sending.FIRST));
        other.send(new Withdraw(last, Sending.FIRST));

        ClaimRef released = one.ref(tables.unused());
        one.send(single(released), Reply.Granted.class);
        tables.queue(released.resource().value(), QUEUE);
        one.release(released);
    }

    /** Clients that end, one of them with holds that others wait for. */
    void end() {
        TestClient third = new TestClient(store);
        List<ClaimRef> grants = new ArrayList<>();
        for (int i = 0; i < TOGETHER; i++) {
            grants.add(third.ref(tables.resting()));
            third.acquire(grants.get(i));
        }
        ClaimRef waits = other.ref(grants.get(0).resource().value());
        other.acquire(waits);
        third.acquire(third.ref(grants.get(1).resource().value()));
        third.close();
        other.release(waits);
        TestClient retired = new TestClient(store);
        retired.send(new Command.Retire(retired.session));
    }

    private void alone() {
        for (String name : List.of(tables.unused(), tables.resting())) {
            ClaimRef claim = one.ref(name);
            Reply.Granted granted = one.send(single(claim), Reply.Granted.class);
            one.send(new Advance(claim, granted.tokens().last(), 10, 0), Reply.Advanced.class);
            one.release(claim);
        }
        ClaimRef forced = one.ref(tables.resting());
        Reply.Granted granted = one.send(single(forced), Reply.Granted.class);
        one.send(new ForceRelease(forced.resource(), granted.tokens().last()));
    }

    private void sendBatch() {
        List<Command> first = new ArrayList<>();
        List<Command> second = new ArrayList<>();
        for (int i = 0; i < TOGETHER; i++) {
            Acquire acquire = single(one.ref(i < TOGETHER / 2 ? tables.resting() : tables.unused()));
            first.add(acquire);
            second.add(new Release(acquire.claim()));
            second.add(single(one.ref(tables.resting())));
        }
        List<Command> third = second.stream()
                .filter(Acquire.class::isInstance)
                .<Command>map(acquire -> new Release(((Acquire) acquire).claim()))
                .toList();
        List.of(first, second, third).forEach(this::sendAtOnce);
    }

    private void sendAtOnce(List<Command> commands) {
        List<CompletableFuture<Reply>> sent = commands.stream()
                .map(command -> store.execute(command, CallerMode.ASYNC).toCompletableFuture())
                .toList();
        sent.forEach(CompletableFuture::join);
    }

    private void inShortQueue() {
        ClaimRef grant = one.ref(tables.resting());
        one.acquire(grant);
        ClaimRef waits = other.ref(grant.resource().value());
        other.acquire(waits);
        other.send(new Poll(List.of(waits)), Reply.Polled.class);
        one.release(grant);
        other.send(new Poll(List.of(waits)), Reply.Polled.class);
        other.release(waits);
    }

    private void permits() {
        String name = tables.unused();
        ClaimRef two = one.ref(name);
        one.acquire(two, PERMITS, 2, Lease.SESSION);
        ClaimRef permit = other.ref(name);
        other.acquire(permit, PERMITS, 1, Lease.SESSION);
        ClaimRef waits = other.ref(name);
        other.acquire(waits, PERMITS, 1, Lease.SESSION);
        one.send(new ShrinkTo(two, 1));
        one.send(new Resize(two.resource(), one.session, 0, 5));
        for (ClaimRef claim : List.of(permit, waits)) {
            other.release(claim);
        }
        one.release(two);
        String shared = tables.unused();
        ClaimRef reads = one.ref(shared);
        one.acquire(reads, SHARED, 1, Lease.SESSION);
        ClaimRef writes = other.ref(shared);
        other.acquire(writes, SHARED, Integer.MAX_VALUE, Lease.SESSION);
        one.release(reads);
        other.release(writes);
    }

    private void ofTime() {
        for (Lease lease : List.of(Lease.bounded(MINUTE), Lease.detached(MINUTE))) {
            ClaimRef claim = one.ref(tables.unused());
            one.acquire(claim, ResourceSpec.MUTEX, 1, lease);
            one.send(new Extend(claim, 1, MINUTE));
            one.release(claim);
        }
    }

    private void latch() {
        ResourceName name = new ResourceName(tables.unused());
        one.send(new SetCount(name, one.session, 0, 1, 2));
        ClaimRef waits = other.ref(name.value());
        other.acquire(waits, LATCH, 0, Lease.SESSION);
        one.send(new CountDown(name, 1, "a", 1));
        one.send(new CountDown(name, 1, "b", 1));
        other.send(new Poll(List.of(waits)), Reply.Polled.class);
    }

    /** Inspections for people, and the audit of a client, at most once in a ttl. */
    void reports() {
        ClaimRef grant = one.ref(tables.resting());
        one.acquire(grant);
        one.send(new Inspect(grant.resource().value(), Optional.empty(), 1, Inspect.Scope.NAME));
        one.send(new Inspect("rest/", Optional.empty(), 100));
        one.send(new Audit(one.session, Optional.empty(), 100));
        one.release(grant);
    }

    private static Acquire single(ClaimRef claim) {
        return new Acquire(claim, 0, Sending.FIRST, ResourceSpec.MUTEX, 1, Lease.SESSION, Waiting.QUEUE, 1);
    }
}
