package dev.holdfast.benchmarks.contestant.holdfast;

import dev.holdfast.benchmarks.harness.Contestant;
import dev.holdfast.spi.CallerMode;
import dev.holdfast.spi.ClaimRef;
import dev.holdfast.spi.Command;
import dev.holdfast.spi.Lease;
import dev.holdfast.spi.LockStore;
import dev.holdfast.spi.Reply;
import dev.holdfast.spi.ResourceName;
import dev.holdfast.spi.ResourceSpec;
import dev.holdfast.spi.SessionId;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;

/**
 * A session at a store without a client: only the two commands of a pair. Its ttl is longer than any cell runs, so it
 * needs no keep-alive.
 */
public final class StoreSession implements Contestant.Client {

    private static final Duration TTL = Duration.ofHours(1);

    private final LockStore store;
    private final SessionId session;
    private final AtomicLong claims = new AtomicLong();

    private StoreSession(LockStore store, SessionId session) {
        this.store = store;
        this.session = session;
    }

    public static StoreSession open(LockStore store) {
        store.subscribe(signal -> {});
        return new StoreSession(
                store, ((Reply.SessionOpened) send(store, new Command.OpenSession(TTL, "bare"))).session());
    }

    private static Reply send(LockStore store, Command command) {
        return store.execute(command, CallerMode.BLOCKING).toCompletableFuture().join();
    }

    public ClaimRef claim(ResourceName name, long number) {
        return new ClaimRef(name, session, number);
    }

    /** Claims a mutex; a claim that is not granted stays in the queue. */
    public Reply acquire(ClaimRef claim) {
        return send(
                store,
                new Command.Acquire(
                        claim,
                        0,
                        Command.Sending.FIRST,
                        ResourceSpec.MUTEX,
                        1,
                        Lease.SESSION,
                        Command.Waiting.QUEUE,
                        1));
    }

    /** Returns whether the claim was granted until now. */
    public boolean release(ClaimRef claim) {
        return send(store, new Command.Release(claim)) instanceof Reply.Released;
    }

    /** For locks without contention. */
    @Override
    public Contestant.Mutex mutex(String name) {
        ResourceName resource = new ResourceName(name);
        return new Contestant.Mutex() {
            private ClaimRef claim = claim(resource, claims.incrementAndGet());

            @Override
            public long acquire() {
                claim = claim(resource, claims.incrementAndGet());
                if (StoreSession.this.acquire(claim) instanceof Reply.Granted granted) {
                    return granted.tokens().last();
                }
                throw new IllegalStateException("the lock is not free");
            }

            @Override
            public void release() {
                if (!StoreSession.this.release(claim)) {
                    throw new IllegalStateException("the lock is not ours");
                }
            }
        };
    }

    @Override
    public void close() {
        var unused = send(store, new Command.CloseSession(session));
        store.close();
    }
}
