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
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;

/**
 * A store without a client: nothing but the two commands of a pair. For locks that nobody else wants.
 *
 * @param holdfast whose store
 */
public record BareStore(Holdfasts holdfast) implements Contestant {

    @Override
    public String title() {
        return holdfast.title() + "-bare";
    }

    @Override
    public Client connect(Path place) {
        LockStore store = holdfast.open(place);
        Reply opened = ask(store, new Command.OpenSession(Duration.ofHours(1), title()));
        return new BareClient(store, ((Reply.SessionOpened) opened).session(), new AtomicLong());
    }

    private static Reply ask(LockStore store, Command command) {
        return store.execute(command, CallerMode.BLOCKING).toCompletableFuture().join();
    }

    private record BareClient(LockStore store, SessionId session, AtomicLong claims) implements Client {

        @Override
        public Mutex mutex(String name) {
            return new BareMutex(this, new ResourceName(name));
        }

        ClaimRef next(ResourceName name) {
            return new ClaimRef(name, session, claims.incrementAndGet());
        }

        @Override
        public void close() {
            var unused = ask(store, new Command.CloseSession(session));
            store.close();
        }
    }

    private static final class BareMutex implements Mutex {

        private final BareClient client;
        private final ResourceName name;
        private ClaimRef claim;

        BareMutex(BareClient client, ResourceName name) {
            this.client = client;
            this.name = name;
            this.claim = client.next(name);
        }

        @Override
        public long acquire() {
            claim = client.next(name);
            Reply reply = ask(
                    client.store(),
                    new Command.Acquire(
                            claim,
                            0,
                            Command.Sending.FIRST,
                            ResourceSpec.MUTEX,
                            1,
                            Lease.SESSION,
                            Command.Waiting.QUEUE,
                            1));
            if (reply instanceof Reply.Granted granted) {
                return granted.tokens().last();
            }
            throw new IllegalStateException("the lock is not free: " + reply);
        }

        @Override
        public void release() {
            Reply reply = ask(client.store(), new Command.Release(claim));
            if (!(reply instanceof Reply.Released)) {
                throw new IllegalStateException("the lock is not ours: " + reply);
            }
        }
    }
}
