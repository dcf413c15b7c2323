package dev.holdfast.spi;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import java.time.Duration;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;

/**
 * The place that decides who holds what: asynchronous, one command at a time. A store answers commands, pushes signals
 * to those who subscribe, declares its traits, and can be closed; one that is spread over servers has partitions
 * besides.
 *
 * <p><b>What every store keeps</b> (the conformance kit checks each rule):
 *
 * <ul>
 *   <li>A command is one atomic step. A step on a resource first drops what is dead, then admits waiters from the
 *       head of the queue.
 *   <li>A command sent again has the effect of one; identity is the {@link ClaimRef}, which is never reused.
 *   <li>A command that carries an epoch below the session's has no effect and answers {@link Reply.Stale}; the
 *       check is part of the same step.
 *   <li>Only the store's own clock decides expiry. No client's clock is written to it or compared with it.
 *   <li>Nothing is left behind for a resource that nobody holds or waits for, but the token counter.
 * </ul>
 *
 * <p><b>Ordering:</b> commands of one client on one resource arrive in the order in which they were given unless a
 * connection breaks, so nothing may depend on it. Between resources there is no order, and a slow partition of a store
 * never delays the rest.
 *
 * <p><b>Thread-safety:</b> all methods may be called from any thread at any time.
 */
public interface LockStore extends AutoCloseable {

    /** What this store can and cannot promise. Constant for the life of the store; reading it does no I/O. */
    StoreTraits traits();

    /**
     * In how many partitions this store keeps sessions: 1 for most. Where there are more, a session is one of a single
     * partition, and so are its claims, its deadline, its epoch and its end; a client opens one for each partition that
     * it uses. What befalls a partition does not delay the others, so a client judges each by itself. Constant for the
     * life of the store.
     */
    default int partitions() {
        return 1;
    }

    /**
     * The partition to which a resource belongs, from 0: always the same for a name, for all clients of the store. In a
     * session of another partition the resource can't be had: for it, that session has ended.
     */
    default int partitionOf(ResourceName name) {
        return 0;
    }

    /**
     * Carries out one command.
     *
     * <p><b>Blocking:</b> never waits for another caller's work. With {@link CallerMode#BLOCKING} a store whose trait
     * {@code callerRuns} is set may make the trip on the calling thread if that partition of the store is idle, and the
     * trip can't keep it for more than a moment, whatever the store has to wait for, or for no longer than {@linkplain
     * #execute(Command, CallerMode, Duration) the sender waits}; with {@link CallerMode#ASYNC} it never does.
     *
     * <p><b>Interruption:</b> a pending or arriving interrupt changes nothing and stays pending.
     *
     * <p>The stage completes on a thread of the store, or on the caller's before this method returns. Who completes
     * it holds no lock of the store. Dependent actions are short and do not block.
     *
     * @return a stage that ends with the reply documented at the command, or exceptionally with a {@link
     *     StoreException} that says whether the command is known to have had no effect or its outcome is unknown;
     *     never with anything else
     */
    CompletionStage<Reply> execute(Command command, CallerMode caller);

    /**
     * As {@link #execute(Command, CallerMode)}, for a sender that takes the command for unanswered after some time. A
     * store that makes the trip on the calling thread keeps it there for no longer: it ends the trip, whose outcome is
     * unknown then. A store whose trips on such a thread take a moment only need not know.
     */
    default CompletionStage<Reply> execute(Command command, CallerMode caller, Duration timeout) {
        return execute(command, caller);
    }

    /**
     * Adds a listener for pushed hints. Signals may be lost, late or out of order. A listener is called on a thread of
     * the store or on one that executes a command, without any lock of the store, and returns quickly.
     *
     * <p>Several clients may share one store, each with a listener of its own. All of them are told what concerns any
     * session that was opened through this store, and take what is about theirs. What one of them throws keeps nothing
     * from the others. {@link dev.holdfast.spi.support.Listeners} keeps this rule for a store.
     *
     * @return ends the listening of this listener, and of no other
     */
    @CanIgnoreReturnValue
    Subscription subscribe(Consumer<Signal> listener);

    /** That a listener is told of signals. */
    @FunctionalInterface
    interface Subscription extends AutoCloseable {
        /** The listener is told no more, but of signals that are being told to it just now. Idempotent. */
        @Override
        void close();
    }

    /**
     * Ends the store's own connections and threads, and returns when they have ended, if it is not called on one of
     * these threads; idempotent. Commands that are still under way end exceptionally. Sessions are not ended by this:
     * that is what {@link Command.CloseSession} is for.
     */
    @Override
    void close();
}
