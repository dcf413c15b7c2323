package dev.holdfast.admin;

import dev.holdfast.Holdfast;
import dev.holdfast.spi.Kind;
import dev.holdfast.spi.Order;
import java.io.Serializable;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * What a store records about one name, as it was at one moment, for people and tools. The dead may still be named, with
 * nothing left of their leases.
 *
 * @param name the lock, semaphore, latch or election
 * @param kind what it is
 * @param order whether those who come may go past those who wait
 * @param capacity how much there is of it at present: 1 of a mutex, the permits of a semaphore
 * @param holders who holds it, oldest first; where a {@link LockQuery} finds many, a part of them
 * @param holding how many hold it in all
 * @param held how much they hold together: the sum of their weights
 * @param waiters who waits, first in line first; may be cut off after a number that the store chooses
 * @param waiting how many wait in all
 * @param newestToken the newest fencing token that was reserved; 0 if none was
 */
public record LockInfo(
        String name,
        Kind kind,
        Order order,
        int capacity,
        List<Holder> holders,
        long holding,
        long held,
        List<Waiter> waiters,
        long waiting,
        long newestToken) {

    /** Copies the lists. */
    public LockInfo {
        holders = List.copyOf(holders);
        waiters = List.copyOf(waiters);
    }

    /** Whether anybody holds it. */
    public boolean isHeld() {
        return holding > 0;
    }

    /** Whether anybody holds it or waits for it; if not, the store only remembers its tokens. */
    public boolean isInUse() {
        return holding > 0 || waiting > 0;
    }

    /**
     * One who holds it. A client whose threads pass a lock on in memory is one holder.
     *
     * @param label who it is, as {@link Holdfast.Builder#label} was set; may be empty
     * @param session the id of its client's session at the store
     * @param claim the number of its claim, which no other claim of the session has
     * @param weight how much it holds
     * @param token the first token of its newest block: of a hold that nobody passed on, its fencing token
     * @param lastToken the last token of that block
     * @param heldSince about when the store granted it, by the store's clock; null where tokens don't tell
     * @param leaseLeft how long it holds without renewal, counted from when the store looked; zero if that is over
     */
    public record Holder(
            String label,
            String session,
            long claim,
            int weight,
            long token,
            long lastToken,
            @Nullable Instant heldSince,
            Duration leaseLeft)
            implements Serializable {

        /** About when the store granted it, to the second; empty where the store can't know. */
        public Optional<Instant> since() {
            return Optional.ofNullable(heldSince);
        }

        /** Whether a fencing token is of this hold's newest block. */
        public boolean hasToken(long fencingToken) {
            return token <= fencingToken && fencingToken <= lastToken;
        }
    }

    /**
     * One who waits for it.
     *
     * @param label who it is, as {@link Holdfast.Builder#label} was set; may be empty
     * @param session the id of its client's session at the store
     * @param claim the number of its claim, which no other claim of the session has
     * @param weight how much it asks for
     * @param leaseLeft how long it waits on without renewal, counted from when the store looked
     */
    public record Waiter(String label, String session, long claim, int weight, Duration leaseLeft)
            implements Serializable {}
}
