package dev.holdfast;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import java.time.Duration;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;

/**
 * The membership of a party in the generation that is inside a {@link DistributedDoubleBarrier}: a lease, which ends
 * when the party leaves. It belongs to no thread.
 *
 * <p><b>Thread-safety:</b> all methods may be called from any thread.
 */
public interface BarrierMembership extends AutoCloseable {

    /** The name of the barrier. */
    String name();

    /**
     * The generation that this party is a member of: the same number for all members, and greater than that of every
     * generation before. Data that a generation writes may be fenced with it.
     */
    long generation();

    /** Whether this party is inside: it has not left, and its membership is not lost; as {@link Hold#isHeld()}. */
    boolean isInside();

    /**
     * Adds a listener for the loss of this membership: to the others, this party has then left. As {@link
     * Hold#onLost(Consumer)}.
     *
     * @return this
     */
    @CanIgnoreReturnValue
    BarrierMembership onLost(Consumer<Loss> listener);

    /**
     * Leaves, and waits without a limit until all members of the generation have left. May be called again to wait
     * again.
     *
     * @throws LockLostException if the membership was lost: the others did not wait for this party
     * @throws InterruptedException if interrupted while waiting for the others; this party has left
     */
    void leave() throws InterruptedException;

    /**
     * Leaves, and waits until all members of the generation have left, or until {@code maxWait} has passed.
     *
     * @param maxWait zero or longer; beyond 146 years means forever
     * @return whether all have left; this party has left in either case
     * @throws IllegalArgumentException if {@code maxWait} is negative
     * @throws LockLostException if the membership was lost
     * @throws InterruptedException if interrupted while waiting for the others; this party has left
     */
    boolean leave(Duration maxWait) throws InterruptedException;

    /**
     * Leaves without blocking.
     *
     * @return a stage that completes when all members have left, or exceptionally with what {@link #leave()} throws, on
     *     the client's callback executor
     */
    CompletionStage<Void> leaveAsync();

    /**
     * Leaves without waiting for the others; does nothing if this party has left. Never throws for a loss.
     *
     * <p><b>Blocking:</b> until the store has answered, at most for the store time-out. <b>Interruption:</b> has no
     * effect.
     *
     * @throws StoreUnavailableException if the store has not confirmed the release, which is retried in the background;
     *     the lease ends the membership at the latest
     */
    @Override
    void close();
}
