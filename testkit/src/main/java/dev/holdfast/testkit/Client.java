package dev.holdfast.testkit;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
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
import dev.holdfast.spi.SessionId;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** A session at the store under test, of a client that sends what it is told to and believes nothing. */
final class Client {

    final LockStore store;
    final SessionId session;
    final Duration ttl;

    /** Under which claims that are made from now on are sent. */
    long epoch;

    private long claims;

    private Client(LockStore store, SessionId session, Duration ttl) {
        this.store = store;
        this.session = session;
        this.ttl = ttl;
    }

    static Client open(LockStore store, Duration ttl, String label) {
        Reply.SessionOpened opened = Bench.send(store, new Command.OpenSession(ttl, label), Reply.SessionOpened.class);
        return new Client(store, opened.session(), opened.ttl());
    }

    /** The same session, used through another connection. */
    Client through(LockStore other) {
        Client same = new Client(other, session, ttl);
        same.epoch = epoch;
        same.claims = claims + 1_000_000;
        return same;
    }

    // What it can ask for; each call is a claim of its own.

    Probe mutex(String name) {
        return probe(name, ResourceSpec.MUTEX, 1);
    }

    Probe reader(String name) {
        return probe(name, readWrite(), 1);
    }

    Probe writer(String name) {
        return probe(name, readWrite(), Integer.MAX_VALUE);
    }

    Probe permits(String name, int k, int n) {
        return probe(name, new ResourceSpec(Kind.SEMAPHORE, n, Order.FAIR), k);
    }

    Probe pass(String name) {
        return probe(name, new ResourceSpec(Kind.LATCH, 1, Order.FAIR), 0);
    }

    Probe probe(String name, ResourceSpec spec, int weight) {
        ClaimRef ref = new ClaimRef(new ResourceName(name), session, ++claims);
        return new Probe(this, ref, epoch, Sending.FIRST, spec, weight, Lease.SESSION, Waiting.QUEUE, 1);
    }

    private static ResourceSpec readWrite() {
        return new ResourceSpec(Kind.READ_WRITE, Integer.MAX_VALUE, Order.FAIR);
    }

    // Its session.

    Reply keepAlive(long underEpoch) {
        return Bench.send(store, new Command.KeepAlive(session, underEpoch));
    }

    /** Raises the epoch and expects that to succeed. */
    void raiseEpoch() {
        epoch++;
        Bench.send(store, new Command.KeepAlive(session, epoch), Reply.SessionAlive.class);
    }

    void retire() {
        Bench.send(store, new Command.Retire(session), Reply.Done.class);
    }

    void close() {
        Bench.send(store, new Command.CloseSession(session), Reply.Done.class);
    }

    @CanIgnoreReturnValue
    <R extends Reply> R send(Command command, Class<R> expected) {
        return Bench.send(store, command, expected);
    }

    List<ClaimRef> held() {
        return audit(100).get(0);
    }

    List<ClaimRef> waiting() {
        return audit(100).get(1);
    }

    /** What the store records as held, and as waiting, gathered from pages of a size. */
    List<List<ClaimRef>> audit(int pageSize) {
        List<ClaimRef> held = new ArrayList<>();
        List<ClaimRef> waiting = new ArrayList<>();
        Optional<String> cursor = Optional.empty();
        do {
            Reply.Audited page = send(new Command.Audit(session, cursor, pageSize), Reply.Audited.class);
            if (page.held().size() + page.waiting().size() > pageSize) {
                throw new AssertionError("A page of at most " + pageSize + " claims was asked for, but got " + page);
            }
            held.addAll(page.held());
            waiting.addAll(page.waiting());
            cursor = page.cursor();
        } while (cursor.isPresent());
        return List.of(held, waiting);
    }
}
