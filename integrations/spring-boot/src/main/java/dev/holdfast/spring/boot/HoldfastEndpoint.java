package dev.holdfast.spring.boot;

import dev.holdfast.Holdfast;
import dev.holdfast.LockInfo;
import dev.holdfast.LockPage;
import dev.holdfast.LockQuery;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.actuate.endpoint.Access;
import org.springframework.boot.actuate.endpoint.annotation.DeleteOperation;
import org.springframework.boot.actuate.endpoint.annotation.Endpoint;
import org.springframework.boot.actuate.endpoint.annotation.ReadOperation;
import org.springframework.boot.actuate.endpoint.annotation.Selector;

/**
 * Actuator endpoint that tells who holds and who waits at the lock store, whoever they are, and takes a lock away by
 * force. Access is read-only unless it is set to unrestricted, so that nothing can be taken away.
 *
 * <p><b>Thread-safety:</b> all methods may be called from any thread.
 */
@Endpoint(id = "holdfast", defaultAccess = Access.READ_ONLY)
// Nobody but the actuator has to do with what the annotations name.
@SuppressWarnings("exports")
public final class HoldfastEndpoint {

    private static final int LIMIT = 100;

    private final ObjectProvider<Holdfast> client;

    HoldfastEndpoint(ObjectProvider<Holdfast> client) {
        this.client = client;
    }

    /**
     * A page of the locks in use.
     *
     * @param prefix what their names begin with; all if null
     * @param cursor where the page before ended; the first page if null
     * @param limit the most names of a page; 100 if null
     */
    @ReadOperation
    public Locks locks(@Nullable String prefix, @Nullable String cursor, @Nullable Integer limit) {
        LockQuery query =
                new LockQuery(prefix == null ? "" : prefix, Optional.ofNullable(cursor), limit == null ? LIMIT : limit);
        LockPage page = client.getObject().inspect(query);
        return new Locks(
                page.locks().stream().filter(LockInfo::isInUse).map(Lock::of).toList(),
                page.next().flatMap(LockQuery::cursor).orElse(null));
    }

    /** What the store records of one name, or null if nothing; a name with slashes is several segments of a path. */
    @ReadOperation
    public @Nullable Lock lock(@Selector(match = Selector.Match.ALL_REMAINING) String... name) {
        return client.getObject().inspect(String.join("/", name)).map(Lock::of).orElse(null);
    }

    /**
     * Ends the hold that has a token, whoever has it: a last resort, since its code runs on.
     *
     * @param token as {@link Holder#token()} tells it
     */
    @DeleteOperation
    public Release release(long token, @Selector(match = Selector.Match.ALL_REMAINING) String... name) {
        return new Release(client.getObject().forceRelease(String.join("/", name), token));
    }

    /**
     * A page of locks.
     *
     * @param locks those in use; may be none of a page that is not the last
     * @param nextCursor what the next page is asked for by; null after the last
     */
    public record Locks(List<Lock> locks, @Nullable String nextCursor) {}

    /**
     * What the store records of a name.
     *
     * @param name the lock, semaphore, latch or election
     * @param kind what it is
     * @param capacity how much there is of it at present
     * @param holders who holds it, oldest first
     * @param holding how many hold it in all
     * @param waiters who waits, first in line first
     * @param waiting how many wait in all
     */
    public record Lock(
            String name,
            String kind,
            int capacity,
            List<Holder> holders,
            long holding,
            List<Waiter> waiters,
            long waiting) {

        private static Lock of(LockInfo info) {
            return new Lock(
                    info.name(),
                    info.kind().name(),
                    info.capacity(),
                    info.holders().stream().map(Holder::of).toList(),
                    info.holding(),
                    info.waiters().stream().map(Waiter::of).toList(),
                    info.waiting());
        }
    }

    /**
     * One who holds a lock.
     *
     * @param label who it is
     * @param weight how much it holds
     * @param token its fencing token, by which it can be released
     * @param heldSince about when it was granted; null where the store can't know
     * @param leaseLeft how long it holds without renewal
     */
    public record Holder(
            String label, int weight, long token, @Nullable Instant heldSince, Duration leaseLeft) {

        private static Holder of(LockInfo.Holder holder) {
            return new Holder(holder.label(), holder.weight(), holder.token(), holder.heldSince(), holder.leaseLeft());
        }
    }

    /**
     * One who waits for a lock.
     *
     * @param label who it is
     * @param weight how much it asks for
     */
    public record Waiter(String label, int weight) {

        private static Waiter of(LockInfo.Waiter waiter) {
            return new Waiter(waiter.label(), waiter.weight());
        }
    }

    /**
     * What became of a release.
     *
     * @param released whether the hold was there, and was ended by it
     */
    public record Release(boolean released) {}
}
