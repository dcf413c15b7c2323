package dev.holdfast;

import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletionStage;

/**
 * Several resources that are acquired together: all of them, or none.
 *
 * <pre>{@code
 * try (MultiHold hold = holdfast.lockAll("account/7", "account/9").acquire(Duration.ofSeconds(5))) {
 *     ledger.move(amount, hold.fencingToken("account/7"), hold.fencingToken("account/9"));
 * }
 * }</pre>
 *
 * <p><b>What it guarantees.</b> A {@link MultiHold} has every part, each with its own fencing token. After a call that
 * ends otherwise the caller holds nothing that it did not hold before. Callers that name the same resources in
 * different orders never deadlock: parts are always acquired in one order, that of the unsigned bytes of their names.
 *
 * <p><b>What it does not guarantee.</b> Parts need not be granted at the same moment: the first may be held while the
 * call waits for the last. Locks that the caller holds and does not list can cause a deadlock; acquire those in the
 * order of their names too, or set a maximum wait.
 *
 * <p><b>Callers that hold a part already.</b> Locks are re-entrant, so a lock that the calling thread holds is simply
 * acquired once more. But a thread that holds a part and waits for one that comes <em>before</em> it could deadlock.
 * Such parts are tried without waiting. If one is taken, the call releases everything it has acquired and starts again
 * after a short random pause, until the maximum wait has passed. On a fair lock that is always in demand each try may
 * fail, and two callers that each hold what the other lacks continue until one times out: give such a call a maximum
 * wait. Permits of semaphores are not re-entrant: a thread that requests more than its own permits leave free
 * deadlocks.
 *
 * <p><b>Time.</b> A maximum wait applies to all parts together.
 *
 * <p><b>Loss.</b> If a part is lost while others are still waited for, the call releases the rest and starts again.
 * Later losses are described by {@link MultiHold}.
 *
 * <p><b>Ownership, interruption, memory effects and exceptions</b> are those of {@link DistributedLock}, for each part:
 * the synchronous methods acquire for the calling thread, {@link #acquireAsync()} for the hold itself. An exception
 * names the part that failed. The other parts are all released; failures to do so are {@linkplain
 * Throwable#getSuppressed() suppressed} in it. The releases take as long as the store needs to answer, at most twice
 * the store time-out.
 *
 * <p><b>Thread-safety:</b> a multi-lock is immutable and may be shared.
 */
public interface MultiLock {

    /** The names of the resources, in the order in which they are acquired. */
    List<String> names();

    /** As {@link #acquire(Duration)}, without a maximum wait. */
    MultiHold acquire() throws InterruptedException;

    /**
     * Waits until all parts are granted to the calling thread, or until {@code maxWait} has passed for all of them
     * together.
     *
     * <p><b>Blocking:</b> parks the calling thread for at most {@code maxWait} plus the store requests that are under
     * way and those of releases; zero makes a single attempt. Safe on virtual threads.
     *
     * @param maxWait zero or longer; beyond 146 years means forever
     * @return a hold to close
     * @throws LockWaitTimeoutException if some part was taken for all of {@code maxWait}; it names that part, and the
     *     caller holds nothing that it did not hold before
     * @throws IllegalArgumentException if {@code maxWait} is negative
     * @throws InterruptedException if interrupted before or while waiting
     */
    MultiHold acquire(Duration maxWait) throws InterruptedException;

    /**
     * Acquires with the options of one call: the maximum wait and the kind of lease, for all parts. When the last
     * part is granted, a fixed lease is set to its full length on all of them. If one has expired by then, because the
     * wait for the others took longer, the call starts again.
     *
     * @throws LockWaitTimeoutException if some part was taken for all of the maximum wait
     * @throws IllegalArgumentException if the store does not support the requested lease
     * @throws IllegalStateException if a thread that holds one of the locks requests a lease; nothing was changed
     * @throws InterruptedException if interrupted before or while waiting
     */
    MultiHold acquire(AcquireOptions options) throws InterruptedException;

    /**
     * Acquires without waiting for others.
     *
     * <p><b>Blocking:</b> for one store request for each part, and for the releases.
     * <b>Interruption:</b> has no effect.
     *
     * @return a hold to close, or empty if a part is taken or, where it is fair, waited for
     * @throws StoreUnavailableException also if the store has not confirmed the release of parts that were acquired:
     *     that is more than "taken"
     */
    Optional<MultiHold> tryAcquire();

    /**
     * Acquires within {@code maxWait}; as {@link #acquire(Duration)}, with "taken" as a value.
     *
     * @return a hold to close, or empty if some part was taken for all of {@code maxWait}
     * @throws IllegalArgumentException if {@code maxWait} is negative
     * @throws InterruptedException if interrupted before or while waiting
     */
    Optional<MultiHold> tryAcquire(Duration maxWait) throws InterruptedException;

    /**
     * Acquires with the options of one call; as {@link #acquire(AcquireOptions)}, with "taken" as a value.
     *
     * @return a hold to close, or empty if some part was taken for all of the maximum wait
     * @throws InterruptedException if interrupted before or while waiting
     */
    Optional<MultiHold> tryAcquire(AcquireOptions options) throws InterruptedException;

    /** As {@link #acquireAsync(AcquireOptions)}, without a maximum wait. */
    CompletionStage<MultiHold> acquireAsync();

    /**
     * Acquires a hold that belongs to itself: any thread may close it, and acquiring is not re-entrant, not even for a
     * thread that holds a part. Never blocks.
     *
     * <p>Cancelling the returned stage's {@linkplain CompletionStage#toCompletableFuture() future} ends the wait, and
     * parts that were granted by then are released.
     *
     * @return a stage that completes with a hold to close, or exceptionally with what {@link #acquire(AcquireOptions)}
     *     throws, on the client's callback executor
     */
    CompletionStage<MultiHold> acquireAsync(AcquireOptions options);
}
