package dev.holdfast;

import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletionStage;

/**
 * Several resources that are taken together: all of them, or none.
 *
 * <pre>{@code
 * try (MultiHold hold = holdfast.lockAll("account/7", "account/9").acquire(Duration.ofSeconds(5))) {
 *     ledger.move(amount, hold.fencingToken("account/7"), hold.fencingToken("account/9"));
 * }
 * }</pre>
 *
 * <p><b>What it guarantees.</b> A {@link MultiHold} has every part, each with a fencing token of its own; a call that
 * ends otherwise leaves the caller with nothing that it did not hold before. Callers that name the same resources in
 * different orders never wait for each other in a circle: parts are always asked for in one order, that of the unsigned
 * bytes of their names, whatever order they are given in.
 *
 * <p><b>What it does not guarantee.</b> That all parts are granted at the same moment: the first may be held while the
 * last is waited for. That there is no deadlock with locks that are held and not in the list; take those in the order
 * of their names, too, or give a maximum wait.
 *
 * <p><b>Callers that hold a part already.</b> Locks are re-entrant, so a lock that the calling thread holds is simply
 * acquired once more. But a thread that holds a part and waits for one that comes <em>before</em> it could close a
 * circle. Such parts are asked for without waiting; if one is taken, all that this call has acquired is given back, and
 * after a short random pause everything begins anew until the maximum wait is over. On a fair lock that is always in
 * demand a try without waiting may fail each time, and two callers that each hold what the other lacks go on until one
 * gives up: give such a call a maximum wait. Permits of semaphores are not re-entrant; a thread that asks for more than
 * the others leave waits for itself.
 *
 * <p><b>Time.</b> A maximum wait is for all parts together.
 *
 * <p><b>Loss.</b> A part that is lost while others are still waited for is given up with the rest, and everything
 * begins anew. From then on see {@link MultiHold}.
 *
 * <p><b>Ownership, interruption, memory effects and exceptions</b> are those of {@link DistributedLock}, for each part:
 * the synchronous forms belong to the calling thread, {@link #acquireAsync()} to the hold itself. An exception names
 * the part that failed; what went wrong while the others were given back is {@linkplain Throwable#getSuppressed()
 * suppressed} in it, and all of them are tried. Giving back takes as long as the store needs to answer, at most twice
 * its time-out.
 *
 * <p><b>Thread-safety:</b> a multi-lock is immutable and may be shared.
 */
public interface MultiLock {

    /** The names of the resources, in the order in which they are asked for. */
    List<String> names();

    /** Waits as long as it takes, in the manner of {@link #acquire(Duration)}. */
    MultiHold acquire() throws InterruptedException;

    /**
     * Waits until all parts are granted to the calling thread, or until {@code maxWait} has passed for all of them
     * together.
     *
     * <p><b>Blocking:</b> parks the calling thread for at most {@code maxWait} plus the store requests that are under
     * way and those that give back; zero makes a single attempt. Safe on virtual threads.
     *
     * @param maxWait zero or longer; values beyond 146 years are taken as for ever
     * @return a hold to close
     * @throws LockWaitTimeoutException if some part was taken for all of {@code maxWait}; it names that part, and the
     *     caller holds nothing that it did not hold before
     * @throws IllegalArgumentException if {@code maxWait} is negative
     * @throws InterruptedException if interrupted before or while waiting
     */
    MultiHold acquire(Duration maxWait) throws InterruptedException;

    /**
     * Acquires with the options of one call: how long to wait, and a lease of their own for all parts. When the last
     * part is granted, a fixed lease is set to its full length on all of them. If one has run out by then, because the
     * others were waited for longer than that, everything begins anew.
     *
     * @throws LockWaitTimeoutException if some part was taken for all of the maximum wait
     * @throws IllegalArgumentException if a lease is asked for that the store can't keep
     * @throws IllegalStateException if a lease is asked for by a thread that holds one of the locks; nothing was
     *     changed
     * @throws InterruptedException if interrupted before or while waiting
     */
    MultiHold acquire(AcquireOptions options) throws InterruptedException;

    /**
     * Acquires without waiting for others.
     *
     * <p><b>Blocking:</b> for one store request for each part, and as long as it takes to give back.
     * <b>Interruption:</b> has no effect.
     *
     * @return a hold to close, or empty if a part is taken or, where it is fair, waited for
     * @throws StoreUnavailableException also if parts were acquired and the store has not confirmed that they were
     *     given back: that is more than "taken"
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

    /** Acquires for the hold itself, waiting as long as it takes; as {@link #acquireAsync(AcquireOptions)}. */
    CompletionStage<MultiHold> acquireAsync();

    /**
     * Acquires for the hold itself: any thread may close it, and it is not re-entrant, not even for a thread that holds
     * a part. Never blocks.
     *
     * <p>Cancelling the returned stage's {@linkplain CompletionStage#toCompletableFuture() future} ends the wait, and
     * what was granted by then is given back.
     *
     * @return a stage that ends with a hold to close, or exceptionally with what {@link #acquire(AcquireOptions)}
     *     throws; it is completed on the client's callback executor
     */
    CompletionStage<MultiHold> acquireAsync(AcquireOptions options);
}
