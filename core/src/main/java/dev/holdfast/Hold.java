package dev.holdfast;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import java.time.Duration;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;

/**
 * The hold of a lock or another resource by its owner. Close it to release.
 *
 * <p>A hold ends once: it is released by its owner, or lost. It is <em>exclusive only until its deadline</em>, which
 * renewals move. A paused process can outlive it, so pass the {@linkplain #fencingToken() token} to every write.
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
     * The unique id of this hold, for a guard that stores it with the token: after a fail-over that lost a grant, two
     * holds may have the same token. A re-entrant hold has the id of the outer one, and readers that share a grant have
     * the same. 1 to 300 printable ASCII characters, never used again, and not secret. Also available after the end.
     */
    String holdId();

    /**
     * Whether this hold is good: not closed, not lost, not past its deadline and not in doubt. Turns false before the
     * store can grant the lock to another, provided that clocks run at rates within the margin. Sends nothing to the
     * store, and takes tens of nanoseconds.
     */
    boolean isHeld();

    /**
     * Checks that this hold is good now, and waits while it is in doubt.
     *
     * <p><b>Blocking:</b> only while the hold is in doubt, until the store has answered, at the latest until the
     * deadline. <b>Interruption:</b> ends the wait; the flag stays set.
     *
     * @throws LockLostException if the hold is lost, or the wait was interrupted while it was in doubt
     * @throws IllegalStateException if the hold was closed
     */
    void ensureHeld();

    /**
     * The time until the deadline by this process's monotonic clock; zero if it has passed or the hold has ended.
     * Renewals extend it.
     */
    Duration remaining();

    /**
     * How long the hold lasts without renewal, as the store keeps it: the ttl of the session, or its own fixed lease.
     */
    Duration effectiveLease();

    /**
     * Adds a listener for the loss of this hold. It is called once, on its own thread, if the hold is lost before it is
     * closed, or at once if it was lost already. A listener that blocks delays neither others nor the client, while
     * fewer than 256 block. What it throws is logged.
     *
     * @return this hold
     */
    @CanIgnoreReturnValue
    Hold onLost(Consumer<Loss> listener);

    /**
     * Sets the remaining time of a fixed lease, counted from now; may shorten it.
     *
     * <p><b>Blocking:</b> until the store has answered or the store time-out has passed. <b>Interruption:</b> has no
     * effect, and the flag stays set.
     *
     * @throws IllegalStateException if this hold has no fixed lease, or was closed
     * @throws IllegalArgumentException if the lease is too short or too long
     * @throws LockLostException if the hold is lost
     * @throws StoreUnavailableException if the store did not answer; the lease is the old or the new one, and the
     *     deadline the earlier of both
     */
    void extend(Duration lease);

    /**
     * Releases this hold without blocking. Never throws for a loss. Idempotent: later calls return the same stage.
     *
     * @return a stage that completes with the outcome when the store has answered, or when the time-out has passed, on
     *     the callback executor; or at once if the outcome is known
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
     * @throws StoreUnavailableException if the store has not confirmed the release, which is retried in the background;
     *     the lease ends the hold at the latest
     * @throws NotOwnerException if the hold belongs to another thread; nothing changes
     */
    @Override
    void close();
}
