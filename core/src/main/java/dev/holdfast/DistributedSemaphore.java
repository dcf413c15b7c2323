package dev.holdfast;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletionStage;

/**
 * A number of permits under one name, shared by every process that uses the same store.
 *
 * <pre>{@code
 * DistributedSemaphore gpus = holdfast.semaphore("gpu", 4);
 * try (Permits two = gpus.acquire(2)) {
 *     train(two);
 * }
 * }</pre>
 *
 * <p>As long as there is one copy of the truth at the store, no more permits are {@linkplain Hold#isHeld() held} than
 * there are. Those that are acquired together are granted together or not at all, and are given back together. Each
 * acquisition is a lease of its own: it ends with its client, or, if one was asked for, with its {@linkplain
 * AcquireOptions#withFixedLease(Duration) fixed} or {@linkplain AcquireOptions#withDetachedLease(Duration) detached}
 * lease.
 *
 * <p><b>How many there are</b> is declared by all who use the name, and kept as long as anybody holds or waits; who
 * declares another number then is refused with {@link LockMismatchException}. {@link #resize(int)} changes how many may
 * be had at present, whatever is declared.
 *
 * <p><b>Order.</b> First in, first out between processes, unless opened as {@linkplain LockOptions#barging() barging}.
 * A large request at the head keeps smaller ones behind it waiting, even where there would be room for them: that is
 * the price of its getting its turn. Within a process permits pass from thread to thread in memory, where the next in
 * line wants as many.
 *
 * <p><b>Memory effects</b>, <b>interruption</b> and the <b>exceptions</b> of acquiring methods are those of {@link
 * DistributedLock}. Nothing here is re-entrant: a thread that waits for permits which it has itself waits in vain.
 *
 * <p><b>Thread-safety:</b> immutable, may be shared. An idle semaphore costs the store nothing.
 */
public interface DistributedSemaphore {

    /** The name of the resource. */
    String name();

    /** How many permits are declared. */
    int permits();

    /**
     * Some permits as a part of a {@link MultiLock}. Does no I/O.
     *
     * @param permits 1 to {@link #permits()}
     * @throws IllegalArgumentException if {@code permits} is out of range
     */
    Lockable permits(int permits);

    /** Acquires one permit, waiting as long as it takes. */
    Permits acquire() throws InterruptedException;

    /** Acquires permits, waiting as long as it takes; as {@link #acquire(int, AcquireOptions)}. */
    Permits acquire(int permits) throws InterruptedException;

    /**
     * Acquires permits with the options of one call: how long to wait, and a lease of their own.
     *
     * <p><b>Blocking:</b> parks the calling thread for at most the maximum wait plus one store request. Safe on virtual
     * threads.
     *
     * @param permits 1 to {@link #permits()}
     * @return permits to close
     * @throws LockWaitTimeoutException if others kept them for all of the maximum wait; the caller has nothing
     * @throws IllegalArgumentException if {@code permits} is out of range, or a lease is asked for that the store can't
     *     keep
     * @throws InterruptedException if interrupted before or while waiting
     */
    Permits acquire(int permits, AcquireOptions options) throws InterruptedException;

    /** As {@link #tryAcquire(int)}, of one permit. */
    Optional<Permits> tryAcquire();

    /**
     * Acquires permits without waiting.
     *
     * <p><b>Blocking:</b> for one store request at the most, and for those that other threads of this process are
     * making.
     * <b>Interruption:</b> has no effect.
     *
     * @param permits 1 to {@link #permits()}
     * @return permits to close, or empty if there are not so many or, on a fair semaphore, somebody waits
     * @throws IllegalArgumentException if {@code permits} is out of range
     */
    Optional<Permits> tryAcquire(int permits);

    /**
     * Acquires permits with the options of one call; as {@link #acquire(int, AcquireOptions)}, with "taken" as a value.
     *
     * @return permits to close, or empty if others kept them for all of the maximum wait
     * @throws InterruptedException if interrupted before or while waiting
     */
    Optional<Permits> tryAcquire(int permits, AcquireOptions options) throws InterruptedException;

    /**
     * Acquires permits without blocking; cancelling the stage's future withdraws the claim.
     *
     * @return a stage that ends with permits to close, or exceptionally with what {@link #acquire(int, AcquireOptions)}
     *     throws; it is completed on the client's callback executor
     */
    CompletionStage<Permits> acquireAsync(int permits, AcquireOptions options);

    /**
     * Acquires all permits that are free, in one hold; at most as many as are declared.
     *
     * <p><b>Blocking:</b> for a few store requests. <b>Interruption:</b> has no effect.
     *
     * @return permits to close, or empty if none are free, or others are faster again and again, or, on a fair
     *     semaphore, somebody waits
     * @throws LockMismatchException if the name is in use as something else, or with another number or order
     */
    Optional<Permits> drainPermits();

    /**
     * How many permits nobody holds, by the store's record at the moment of its answer; what this process keeps for its
     * own next thread counts as held. Never negative: after a {@link #resize(int)} more may be held than there are.
     *
     * <p><b>Blocking:</b> for one store request.
     *
     * @throws LockMismatchException if the name is in use as something else, or with another number or order
     * @throws StoreUnavailableException if the store did not answer
     */
    int availablePermits();

    /**
     * Changes how many permits there are, for as long as anybody holds or waits: more admits who waits at once; with
     * fewer, holders finish, and requests that could never be granted fail with {@link LockMismatchException} as soon
     * as their turn comes.
     *
     * <p><b>Blocking:</b> for a store request.
     *
     * @return false if nobody holds or waits, so that there is nothing to change: whoever comes next declares the
     *     number
     * @throws IllegalArgumentException if {@code permits} is not positive
     * @throws LockMismatchException if the name is in use as something else
     * @throws StoreUnavailableException if the store did not answer; it may have changed the number
     */
    @CanIgnoreReturnValue
    boolean resize(int permits);

    /**
     * Gives permits back that any process has acquired, by their {@linkplain Permits#permitId() id}. Their owner learns
     * it at its next release, or within a ttl of its session.
     *
     * <p><b>Blocking:</b> for a store request.
     *
     * @return false if there are no such permits: they were given back or lost before, or are another semaphore's
     * @throws IllegalArgumentException if no permits could have this id
     * @throws StoreUnavailableException if the store did not answer; it may have given them back
     */
    boolean release(String permitId);
}
