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

/**
 * A session at the store under test, for a client without logic of its own. Where the store has partitions it is a
 * session in each, and every operation applies to all of them.
 */
final class TestClient {

    final LockStore store;
    private final List<SessionId> sessions;
    final Duration ttl;

    /** The epoch of the claims that are sent from now on. */
    long epoch;

    private long claims;

    private TestClient(LockStore store, List<SessionId> sessions, Duration ttl) {
        this.store = store;
        this.sessions = sessions;
        this.ttl = ttl;
    }

    static TestClient open(LockStore store, Duration ttl, String label) {
        List<SessionId> sessions = new ArrayList<>();
        Duration shortest = Command.MAX_DURATION;
        for (int part = 0; part < store.partitions(); part++) {
            Reply.SessionOpened opened = ConformanceFixture.send(
                    store, new Command.OpenSession(ttl, label, part), Reply.SessionOpened.class);
            sessions.add(opened.session());
            shortest = shortest.compareTo(opened.ttl()) < 0 ? shortest : opened.ttl();
        }
        return new TestClient(store, sessions, shortest);
    }

    /** The same session, used through another connection. */
    TestClient through(LockStore other) {
        TestClient same = new TestClient(other, sessions, ttl);
        same.epoch = epoch;
        same.claims = claims + 1_000_000;
        return same;
    }

    // Claims; each call makes a new one.

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
        ResourceName resource = new ResourceName(name);
        ClaimRef ref = new ClaimRef(resource, sessionOf(resource), ++claims);
        return new Probe(this, ref, epoch, Sending.FIRST, spec, weight, Lease.SESSION, Waiting.QUEUE, 1);
    }

    private static ResourceSpec readWrite() {
        return new ResourceSpec(Kind.READ_WRITE, Integer.MAX_VALUE, Order.FAIR);
    }

    // Its session.

    /** The session under which a resource is asked for. */
    SessionId sessionOf(ResourceName resource) {
        return sessions.get(store.partitionOf(resource));
    }

    SessionId sessionOf(Probe probe) {
        return sessionOf(probe.ref().resource());
    }

    /** Keeps it alive; in all parts the answer is the same. */
    Reply keepAlive(long underEpoch) {
        List<Reply> replies = sessions.stream()
                .map(session -> ConformanceFixture.send(store, new Command.KeepAlive(session, underEpoch)))
                .distinct()
                .toList();
        if (replies.size() > 1) {
            throw new AssertionError("The parts of the store differ in whether a session lives: " + replies);
        }
        return replies.get(0);
    }

    /** Raises the epoch and expects that to succeed. */
    void raiseEpoch() {
        epoch++;
        sessions.forEach(session ->
                ConformanceFixture.send(store, new Command.KeepAlive(session, epoch), Reply.SessionAlive.class));
    }

    void retire() {
        sessions.forEach(session -> ConformanceFixture.send(store, new Command.Retire(session), Reply.Done.class));
    }

    void close() {
        sessions.forEach(
                session -> ConformanceFixture.send(store, new Command.CloseSession(session), Reply.Done.class));
    }

    @CanIgnoreReturnValue
    <R extends Reply> R send(Command command, Class<R> expected) {
        return ConformanceFixture.send(store, command, expected);
    }

    List<ClaimRef> claims() {
        return audit(100).get(0);
    }

    List<ClaimRef> waiting() {
        return audit(100).get(1);
    }

    /** What the store records as held, and as waiting, gathered from pages of a size. */
    List<List<ClaimRef>> audit(int pageSize) {
        List<ClaimRef> found = new ArrayList<>();
        List<ClaimRef> waiting = new ArrayList<>();
        sessions.forEach(session -> audit(session, pageSize, found, waiting));
        return List.of(found, waiting);
    }

    private void audit(SessionId session, int pageSize, List<ClaimRef> found, List<ClaimRef> waiting) {
        Optional<String> cursor = Optional.empty();
        do {
            Reply.Audited page = send(new Command.Audit(session, cursor, pageSize), Reply.Audited.class);
            if (page.granted().size() + page.waiting().size() > pageSize) {
                throw new AssertionError("A page of at most " + pageSize + " claims was asked for, but got " + page);
            }
            found.addAll(page.granted());
            waiting.addAll(page.waiting());
            cursor = page.cursor();
        } while (cursor.isPresent());
    }
}
