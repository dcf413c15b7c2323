package dev.holdfast.benchmarks.contestant.holdfast;

import dev.holdfast.benchmarks.harness.Contestant;
import dev.holdfast.spi.ClaimRef;
import dev.holdfast.spi.Reply;
import dev.holdfast.spi.ResourceName;
import java.nio.file.Path;
import java.util.concurrent.atomic.AtomicLong;

/**
 * A store without a client: only the two commands of a pair. For locks without contention.
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
        StoreSession session = StoreSession.open(holdfast.open(place));
        AtomicLong claims = new AtomicLong();
        return Client.of(name -> new BareMutex(session, claims, new ResourceName(name)), session::close);
    }

    private static final class BareMutex implements Mutex {

        private final StoreSession session;
        private final AtomicLong claims;
        private final ResourceName name;
        private ClaimRef claim;

        BareMutex(StoreSession session, AtomicLong claims, ResourceName name) {
            this.session = session;
            this.claims = claims;
            this.name = name;
            this.claim = session.claim(name, claims.incrementAndGet());
        }

        @Override
        public long acquire() {
            claim = session.claim(name, claims.incrementAndGet());
            if (session.acquire(claim) instanceof Reply.Granted granted) {
                return granted.tokens().last();
            }
            throw new IllegalStateException("the lock is not free");
        }

        @Override
        public void release() {
            if (!session.release(claim)) {
                throw new IllegalStateException("the lock is not ours");
            }
        }
    }
}
