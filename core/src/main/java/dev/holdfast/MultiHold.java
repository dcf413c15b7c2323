package dev.holdfast;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;

/**
 * What its owner has in hand while all parts of a {@link MultiLock} are locked: close it to release them.
 *
 * <p>It is good while <em>every</em> part is good. Each part has a fencing token of its own, which means something only
 * to what that part protects. When one part is lost the others stay held until this is closed: stop writing, and close
 * it.
 *
 * <p><b>Thread-safety:</b> all methods may be called from any thread, except that a hold that belongs to a thread is
 * closed by that thread.
 */
public interface MultiHold extends AutoCloseable {

    /** The names of the resources, in the order in which they were asked for. */
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
     * What tells the hold of one part from all others, as {@link Hold#holdId()}.
     *
     * @throws IllegalArgumentException if the name is none of {@link #names()}
     */
    String holdId(String name);

    /** Whether all parts are good, as {@link Hold#isHeld()}. */
    boolean isHeld();

    /**
     * Makes sure that all parts are good now, as {@link Hold#ensureHeld()}.
     *
     * @throws LockLostException if a part is lost, or the wait was interrupted before a doubt was over
     * @throws IllegalStateException if this was closed
     */
    void ensureHeld();

    /** What is left until the earliest of the parts' deadlines; zero when one has passed, and when this has ended. */
    Duration remaining();

    /** How long the part lasts that lasts shortest without renewal, as {@link Hold#effectiveLease()}. */
    Duration effectiveLease();

    /**
     * Names a listener for the loss of this hold. It is called once, for the part that is lost first, which {@link
     * Loss#name()} tells; otherwise as {@link Hold#onLost(Consumer)}.
     *
     * @return this hold
     */
    @CanIgnoreReturnValue
    MultiHold onLost(Consumer<Loss> listener);

    /**
     * Sets what is left of the fixed leases of all parts, as {@link Hold#extend(Duration)}. Every part is tried; what
     * failed after the first failure is suppressed in it.
     */
    void extend(Duration lease);

    /**
     * Releases all parts and tells how that ended, by name. Never throws for a loss; idempotent: later calls answer the
     * same stage.
     *
     * @return a stage that ends when the store has answered for all parts, or has not within the time-out; on the
     *     callback executor, unless that was known at once
     * @throws NotOwnerException if the hold belongs to another thread; nothing changes
     */
    CompletionStage<Map<String, ReleaseOutcome>> releaseAsync();

    /**
     * Releases all parts. A second close does nothing.
     *
     * <p><b>Blocking:</b> until the store has answered for all parts, at most for twice the store time-out.
     * <b>Interruption:</b> has no effect, and the flag stays set.
     *
     * @throws LockLostException if a part was lost before it was closed; the others are released, and what went wrong
     *     with them is suppressed
     * @throws StoreUnavailableException if the store has not confirmed a release, likewise; it is repeated in the
     *     background, and the lease ends the hold at the latest
     * @throws NotOwnerException if the hold belongs to another thread; nothing changes
     */
    @Override
    void close();
}
