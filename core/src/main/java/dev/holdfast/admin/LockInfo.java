package dev.holdfast.admin;

import dev.holdfast.Holdfast;
import dev.holdfast.spi.Kind;
import dev.holdfast.spi.Order;
import java.io.Serializable;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * What a store records about one name at one moment, for people and tools. Dead holders and waiters may still be
 * listed, with nothing left of their leases.
 *
 * @param name the lock, semaphore, latch or election
 * @param kind what it is
 * @param order whether claims may be granted before queued ones
 * @param capacity its current capacity: 1 for a mutex, the number of permits of a semaphore
 * @param holders its holders, oldest first; if a {@link LockQuery} finds many, a part of them
 * @param holding the number of all holders
 * @param usedCapacity how much they hold together: the sum of their weights
 * @param waiters its waiters in the order of the queue; may be cut off after a number that the store chooses
 * @param waiting the number of all waiters
 * @param newestToken the newest reserved fencing token; 0 for none
 */
public record LockInfo(
        String name,
        Kind kind,
        Order order,
        int capacity,
        List<Holder> holders,
        long holding,
        long usedCapacity,
        List<Waiter> waiters,
        long waiting,
        long newestToken) {

    /** Copies the lists. */
    public LockInfo {
        holders = List.copyOf(holders);
        waiters = List.copyOf(waiters);
    }

    /** Whether it has a holder. */
    public boolean isHeld() {
        return holding > 0;
    }

    /** Whether it has a holder or a waiter; if not, the store only remembers its tokens. */
    public boolean isInUse() {
        return holding > 0 || waiting > 0;
    }

    /**
     * A holder. A client whose threads hand over a lock in memory is one holder.
     *
     * @param label the label of its client, as {@link Holdfast.Builder#label} was set; may be empty
     * @param session the id of its client's session at the store
     * @param claim the number of its claim, which no other claim of the session has
     * @param weight how much it holds
     * @param token the first token of its newest block: of a hold that was not handed over, its fencing token
     * @param lastToken the last token of that block
     * @param heldSince the approximate time of the grant, by the store's clock; null if tokens don't show it
     * @param leaseLeft how long it holds without renewal, from the time of the inspection; zero if its lease has ended
     * @param sessionTtl how long its client's session lives without renewal in all; zero if the store does not know it
     * @param message what its client {@linkplain dev.holdfast.AcquireOptions#withMessage says} it is for; empty if
     *     nothing. Text of another program, which may contain anything
     * @param waits the threads of its client that hold a part of this and wait for another name, as far as the store
     *     and the client support the {@linkplain dev.holdfast.Deadlock detection of deadlocks}
     */
    public record Holder(
            String label,
            String session,
            long claim,
            int weight,
            long token,
            long lastToken,
            @Nullable Instant heldSince,
            Duration leaseLeft,
            Duration sessionTtl,
            String message,
            List<Wait> waits)
            implements Serializable {

        /** Copies the list. */
        public Holder {
            waits = List.copyOf(waits);
        }

        /** The approximate time of the grant, to the second; empty if the store can't know it. */
        public Optional<Instant> since() {
            return Optional.ofNullable(heldSince);
        }

        /** Whether a fencing token belongs to this hold's newest block. */
        public boolean hasToken(long fencingToken) {
            return token <= fencingToken && fencingToken <= lastToken;
        }
    }

    /**
     * A wait of a thread that holds something, as its client stated it after about a second. It may have ended.
     *
     * @param id its identity: the same in all holds of the thread, and never used again
     * @param awaits the name that the thread waits for
     * @param isBlockedByReaders whether every hold of that name blocks it; otherwise only those that exclude all others
     * @param isWriteHold whether its hold of the present name excludes all others
     * @param token the fencing token of that hold
     * @param thread the name of the thread, possibly cut. Text of another program
     * @param waited how long it had waited when its client stated it
     * @param acknowledged the ids of waits that its client had read before it found this one still on. Waits that all
     *     acknowledge each other were on at one moment
     */
    public record Wait(
            long id,
            String awaits,
            boolean isBlockedByReaders,
            boolean isWriteHold,
            long token,
            String thread,
            Duration waited,
            Set<Long> acknowledged)
            implements Serializable {

        /** Copies the set. */
        public Wait {
            acknowledged = Set.copyOf(acknowledged);
        }
    }

    /**
     * A waiter.
     *
     * @param label the label of its client, as {@link Holdfast.Builder#label} was set; may be empty
     * @param session the id of its client's session at the store
     * @param claim the number of its claim, which no other claim of the session has
     * @param weight how much it requests
     * @param leaseLeft how long it waits without renewal, from the time of the inspection
     * @param sessionTtl as for a holder
     * @param waitedFor how long it has been in the queue, by the store's clock; null if the store does not know,
     *     because an earlier version of the program queued it
     */
    public record Waiter(
            String label,
            String session,
            long claim,
            int weight,
            Duration leaseLeft,
            Duration sessionTtl,
            @Nullable Duration waitedFor)
            implements Serializable {

        /** How long it has been in the queue; empty if the store does not know. */
        public Optional<Duration> waited() {
            return Optional.ofNullable(waitedFor);
        }
    }
}
