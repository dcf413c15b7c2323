package dev.holdfast.spi;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import java.time.Duration;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;

/**
 * A lock store: decides which claims are granted. It executes commands asynchronously, pushes signals to subscribers,
 * declares its traits, and can be closed. A store that spans several servers has partitions.
 *
 * <p><b>The rules of every store</b> (the conformance kit checks each):
 *
 * <ul>
 *   <li>A command is one atomic step. A step on a resource first removes dead claims, then admits waiters from
 *       the head of the queue.
 *   <li>A repeated command has the effect of one; its identity is the {@link ClaimRef}, which is never reused.
 *   <li>A command that carries an epoch below the session's has no effect and answers {@link Reply.Stale}; the
 *       check is part of the same step.
 *   <li>Only the store's own clock decides expiry. No client's clock is written to it or compared with it.
 *   <li>Of a resource that is not in use, nothing is kept but the token counter.
 * </ul>
 *
 * <p><b>Ordering:</b> commands of one client on one resource are executed in the order of their submission unless a
 * connection breaks, so nothing may depend on it. There is no order between resources, and a slow partition of a store
 * never delays others.
 *
 * <p><b>Thread-safety:</b> all methods may be called from any thread at any time.
 */
public interface LockStore extends AutoCloseable {

    /** What this store can and cannot promise. Constant for the life of the store; reading it does no I/O. */
    StoreTraits traits();

    /**
     * The number of partitions: 1 for most stores. A session belongs to one partition, with its claims, its deadline,
     * its epoch and its end; a client opens one session for each partition that it uses. A failure of a partition does
     * not affect others, so a client treats each separately. Constant for the life of the store.
     */
    default int partitions() {
        return 1;
    }

    /**
     * The partition of a resource, from 0: always the same for a name, for all clients of the store. Commands on the
     * resource under a session of another partition are answered as if that session had ended.
     */
    default int partitionOf(ResourceName name) {
        return 0;
    }

    /**
     * Carries out one command.
     *
     * <p><b>Blocking:</b> never waits for commands of other callers. With {@link CallerMode#BLOCKING}, a store with the
     * trait {@code callerRuns} may make the round trip on the calling thread if that partition is idle, and if the
     * round trip can't block it for more than a moment, or for longer than {@linkplain #execute(Command, CallerMode,
     * Duration) the sender waits}. With {@link CallerMode#ASYNC} it never does.
     *
     * <p><b>Interruption:</b> an interrupt, pending or arriving, has no effect and stays pending.
     *
     * <p>The stage completes on a thread of the store, or on the calling thread before this method returns, without any
     * lock of the store. Dependent actions are short and do not block.
     *
     * @return a stage that completes with a reply documented at the command, or exceptionally with a {@link
     *     StoreException} that says whether the command is known to have had no effect or its outcome is unknown;
     *     never with anything else
     */
    CompletionStage<Reply> execute(Command command, CallerMode caller);

    /**
     * As {@link #execute(Command, CallerMode)}, for a sender with a time-out. A store that makes the round trip on the
     * calling thread must not block it for longer: it ends the round trip, whose outcome is then unknown. A store whose
     * round trips on such a thread take only a moment may ignore the time-out.
     */
    default CompletionStage<Reply> execute(Command command, CallerMode caller, Duration timeout) {
        return execute(command, caller);
    }

    /**
     * Adds a listener for pushed hints. Signals may be lost, late or out of order. A listener is called on a thread of
     * the store or on one that executes a command, without any lock of the store, and returns quickly.
     *
     * <p>Several clients may share one store, each with its own listener. All of them receive the signals of all
     * sessions that were opened through this store, and ignore those of others. What one of them throws does not affect
     * the others. {@link dev.holdfast.spi.support.Listeners} implements this.
     *
     * @return ends the subscription of this listener, and of no other
     */
    @CanIgnoreReturnValue
    Subscription subscribe(Consumer<Signal> listener);

    /** The subscription of a listener. */
    @FunctionalInterface
    interface Subscription extends AutoCloseable {
        /** Ends the subscription; a call of the listener may still be running. Idempotent. */
        @Override
        void close();
    }

    /**
     * Closes the store's own connections and threads, and returns when they have ended, unless it is called on one of
     * these threads. Idempotent. Commands that are under way fail. This does not end sessions; {@link
     * Command.CloseSession} does.
     */
    @Override
    void close();
}
