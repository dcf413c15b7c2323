package dev.holdfast;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;

/**
 * The hold of all parts of a {@link MultiLock}. Close it to release them.
 *
 * <p>It is good while <em>every</em> part is good. Each part has its own fencing token, which is meaningful only
 * for what that part protects. When one part is lost, the others stay held until this is closed: stop writing, and
 * close it.
 *
 * <p><b>Thread-safety:</b> all methods may be called from any thread, except that a hold that belongs to a thread is
 * closed by that thread.
 */
public interface MultiHold extends AutoCloseable {

    /** The names of the resources, in the order in which they were acquired. */
    List<String> names();

    /**
     * The fencing token of one part, as {@link Hold#fencingToken()}.
     *
     * @throws LockLostException if that part was lost
     * @throws IllegalArgumentException if the name is none of {@link #names()}
     * @throws IllegalStateException if this was closed
     */
    long fencingToken(String name);

    /**
     * The unique id of the hold of one part, as {@link Hold#holdId()}.
     *
     * @throws IllegalArgumentException if the name is none of {@link #names()}
     */
    String holdId(String name);

    /** Whether all parts are good, as {@link Hold#isHeld()}. */
    boolean isHeld();

    /**
     * Checks that all parts are good now, as {@link Hold#ensureHeld()}.
     *
     * @throws LockLostException if a part is lost, or the wait was interrupted while one was in doubt
     * @throws IllegalStateException if this was closed
     */
    void ensureHeld();

    /** The time until the earliest deadline of the parts; zero if one has passed or this has ended. */
    Duration remaining();

    /** The shortest time that a part lasts without renewal, as {@link Hold#effectiveLease()}. */
    Duration effectiveLease();

    /**
     * Adds a listener for the loss of this hold. It is called once, for the part that is lost first, which {@link
     * Loss#name()} returns; otherwise as {@link Hold#onLost(Consumer)}.
     *
     * @return this hold
     */
    @CanIgnoreReturnValue
    MultiHold onLost(Consumer<Loss> listener);

    /**
     * Sets the remaining time of the fixed leases of all parts, as {@link Hold#extend(Duration)}. Every part is
     * extended; failures after the first one are suppressed in it.
     */
    void extend(Duration lease);

    /**
     * Releases all parts without blocking. Never throws for a loss. Idempotent: later calls return the same stage.
     *
     * @return a stage that completes with the outcomes, by name, when the store has answered for all parts, or when the
     *     time-out has passed, on the callback executor; or at once if the outcomes are known
     * @throws NotOwnerException if the hold belongs to another thread; nothing changes
     */
    CompletionStage<Map<String, ReleaseOutcome>> releaseAsync();

    /**
     * Releases all parts. A second close does nothing.
     *
     * <p><b>Blocking:</b> until the store has answered for all parts, at most for twice the store time-out.
     * <b>Interruption:</b> has no effect, and the flag stays set.
     *
     * @throws LockLostException if a part was lost before it was closed; the others are released, and their failures
     *     are suppressed
     * @throws StoreUnavailableException if the store has not confirmed a release, which is retried in the background;
     *     the lease ends the hold at the latest. Other failures are suppressed
     * @throws NotOwnerException if the hold belongs to another thread; nothing changes
     */
    @Override
    void close();
}
