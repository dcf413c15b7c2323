package dev.holdfast.servers.sql;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import dev.holdfast.spi.CallerMode;
import dev.holdfast.spi.ClaimRef;
import dev.holdfast.spi.Command;
import dev.holdfast.spi.Command.Sending;
import dev.holdfast.spi.Command.Waiting;
import dev.holdfast.spi.Lease;
import dev.holdfast.spi.LockStore;
import dev.holdfast.spi.Reply;
import dev.holdfast.spi.ResourceName;
import dev.holdfast.spi.ResourceSpec;
import dev.holdfast.spi.SessionId;
import dev.holdfast.spi.StoreException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletionException;

/** One session of a store, with short words for what tests ask of it. */
public final class TestClient {

    public final LockStore store;
    public final SessionId session;
    private long claims;

    public TestClient(LockStore store, Duration ttl) {
        this.store = store;
        this.session = send(new Command.OpenSession(ttl, "test"), Reply.SessionOpened.class)
                .session();
    }

    public TestClient(LockStore store) {
        this(store, Duration.ofHours(1));
    }

    @CanIgnoreReturnValue
    public Reply send(Command command) {
        try {
            return store.execute(command, CallerMode.BLOCKING)
                    .toCompletableFuture()
                    .join();
        } catch (CompletionException e) {
            throw e.getCause() instanceof StoreException failure ? failure : e;
        }
    }

    @CanIgnoreReturnValue
    public <R extends Reply> R send(Command command, Class<R> expected) {
        return expected.cast(send(command));
    }

    public ClaimRef ref(String name) {
        return new ClaimRef(new ResourceName(name), session, ++claims);
    }

    @CanIgnoreReturnValue
    public Reply acquire(ClaimRef claim) {
        return acquire(claim, ResourceSpec.MUTEX, 1, Lease.SESSION);
    }

    @CanIgnoreReturnValue
    public Reply acquire(ClaimRef claim, ResourceSpec spec, int weight, Lease lease) {
        return send(new Command.Acquire(claim, 0, Sending.FIRST, spec, weight, lease, Waiting.QUEUE, 1));
    }

    /** Acquires under a new claim, and must get it. */
    @CanIgnoreReturnValue
    public Reply.Granted granted(String name) {
        return (Reply.Granted) acquire(ref(name));
    }

    public Reply.ClaimReply poll(ClaimRef claim) {
        return send(new Command.Poll(List.of(claim)), Reply.Polled.class)
                .states()
                .get(0);
    }

    public void release(ClaimRef claim) {
        send(new Command.Release(claim), Reply.Released.class);
    }

    public void keepAlive() {
        send(new Command.KeepAlive(session, 0), Reply.SessionAlive.class);
    }

    public void close() {
        send(new Command.CloseSession(session), Reply.Done.class);
    }
}
