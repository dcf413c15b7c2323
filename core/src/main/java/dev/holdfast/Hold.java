package dev.holdfast;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import java.time.Duration;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;

/**
 * What its owner has in hand while a resource is locked: close it to release.
 *
 * <p>A hold ends once: it is released by its owner, or lost. It is <em>exclusive only until its deadline</em>, which
 * renewal moves on; a process that was paused can outlive it, so pass the {@linkplain #fencingToken() token} to
 * whatever is written to.
 *
 * <p><b>Thread-safety:</b> all methods may be called from any thread, except that a hold that belongs to a thread is
 * closed by that thread.
 */
public interface Hold extends AutoCloseable {

    /** The name of the resource. */
    String name();

    /**
     * The fencing token of this hold: greater than that of every earlier owner of the resource. A re-entrant hold has
     * the token of the outer one. In JSON it is a string.
     *
     * @throws LockLostException if the hold was lost: a stale token must not look like a fresh one
     * @throws IllegalStateException if the hold was closed
     */
    long fencingToken();

    /**
     * Tells this hold from all others that could ever show the same token, for a guard that keeps both: after a
     * fail-over that has forgotten a grant, two holds may have one token. A re-entrant hold has that of the outer one,
     * and readers who share a grant have the same. 1 to 300 printable ASCII characters, never used again, and no
     * secret; also told after the end.
     */
    String holdId();

    /**
     * Whether this hold is good: not closed, not lost, not past its deadline and not in doubt. Turns false before the
     * store can give the lock away, provided that clocks run at rates within the margin. Answered without the store,
     * in tens of nanoseconds.
     */
    boolean isHeld();

    /**
     * Makes sure that this hold is good now, and waits while it is in doubt.
     *
     * <p><b>Blocking:</b> only while the hold is in doubt, until the store has answered, at the latest until the
     * deadline. <b>Interruption:</b> ends the wait; the flag stays set.
     *
     * @throws LockLostException if the hold is lost, or the wait was interrupted before the doubt was over
     * @throws IllegalStateException if the hold was closed
     */
    void ensureHeld();

    /**
     * What is left until the deadline by this process's monotonic clock; zero when it has passed, and when the hold
     * has ended. Renewal makes it longer.
     */
    Duration remaining();

    /**
     * How long the hold lasts without renewal, as the store keeps it: the ttl of the session, or its own fixed lease.
     */
    Duration effectiveLease();

    /**
     * Names a listener for the loss of this hold. It is called once, on a thread of its own, if the hold is lost before
     * it is closed; at once if that has happened already. A listener that blocks delays neither others nor the client,
     * as long as fewer than 256 do. What it throws is logged.
     *
     * @return this hold
     */
    @CanIgnoreReturnValue
    Hold onLost(Consumer<Loss> listener);

    /**
     * Sets what is left of a fixed lease, from now; may shorten it.
     *
     * <p><b>Blocking:</b> until the store has answered. <b>Interruption:</b> has no effect.
     *
     * @throws IllegalStateException if this hold has no fixed lease, or was closed
     * @throws IllegalArgumentException if the lease is too short or too long
     * @throws LockLostException if the hold is lost
     * @throws StoreUnavailableException if the store did not answer; the lease is the old or the new one, and the
     *     deadline the earlier of both
     */
    void extend(Duration lease);

    /**
     * Releases this hold and tells how that ended. Never throws for a loss; idempotent: later calls answer the same
     * stage.
     *
     * @return a stage that ends when the store has answered, or has not within the time-out; on the callback executor,
     *     unless that was known at once
     * @throws NotOwnerException if the hold belongs to another thread; nothing changes
     */
    CompletionStage<ReleaseOutcome> releaseAsync();

    /**
     * Releases this hold. A second close does nothing.
     *
     * <p><b>Blocking:</b> as {@link DistributedLock#unlock()}. <b>Interruption:</b> has no effect, and the flag stays
     * set.
     *
     * @throws LockLostException if the hold was lost before it was closed
     * @throws StoreUnavailableException if the store has not confirmed the release; it is repeated in the
     *     background, and the lease ends the hold at the latest
     * @throws NotOwnerException if the hold belongs to another thread; nothing changes
     */
    @Override
    void close();
}
