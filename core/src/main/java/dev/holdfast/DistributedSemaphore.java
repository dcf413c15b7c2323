package dev.holdfast;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletionStage;

/**
 * A counting semaphore with a name, shared by all processes that use the same store.
 *
 * <pre>{@code
 * DistributedSemaphore gpus = holdfast.semaphore("gpu", 4);
 * try (Permits two = gpus.acquire(2)) {
 *     train(two);
 * }
 * }</pre>
 *
 * <p>As long as the store has a single state, no more permits are {@linkplain Hold#isHeld() held} than exist. Permits
 * acquired in one call are granted together or not at all, and released together. Each acquisition has its own lease:
 * it ends with its client, or with the {@linkplain AcquireOptions#withFixedLease(Duration) fixed} or {@linkplain
 * AcquireOptions#withDetachedLease(Duration) detached} lease that was requested.
 *
 * <p><b>The number of permits.</b> All users of the name must declare the same number. While the semaphore is in use,
 * another number is rejected with {@link LockMismatchException}. {@link #resize(int)} changes how many permits can
 * currently be held, with no effect on the declaration.
 *
 * <p><b>Order.</b> First in, first out between processes, unless opened as {@linkplain LockOptions#barging() barging}.
 * A large request at the head keeps smaller ones behind it waiting, even where there would be room for them; otherwise
 * it might never be granted. Within a process permits are handed over in memory if the next request is for as many.
 *
 * <p><b>Memory effects</b>, <b>interruption</b> and the <b>exceptions</b> of acquiring methods are those of {@link
 * DistributedLock}. Nothing here is re-entrant: a thread that waits for permits it already holds deadlocks.
 *
 * <p><b>Thread-safety:</b> immutable and may be shared. An idle semaphore costs the store nothing.
 */
public interface DistributedSemaphore {

    /** The name of the resource. */
    String name();

    /** The declared number of permits. */
    int permits();

    /**
     * A number of permits as a part of a {@link MultiLock}. Does no I/O.
     *
     * @param permits 1 to {@link #permits()}
     * @throws IllegalArgumentException if {@code permits} is out of range
     */
    Lockable permits(int permits);

    /** Acquires one permit, without a maximum wait. */
    Permits acquire() throws InterruptedException;

    /** As {@link #acquire(int, AcquireOptions)}, without a maximum wait. */
    Permits acquire(int permits) throws InterruptedException;

    /**
     * Acquires permits with the options of one call: the maximum wait and the kind of lease.
     *
     * <p><b>Blocking:</b> parks the calling thread for at most the maximum wait plus one store request. Safe on virtual
     * threads.
     *
     * @param permits 1 to {@link #permits()}
     * @return permits to close
     * @throws LockWaitTimeoutException if others kept them for all of the maximum wait; the caller holds nothing
     * @throws IllegalArgumentException if {@code permits} is out of range, or the store does not support the
     *     requested lease
     * @throws InterruptedException if interrupted before or while waiting
     */
    Permits acquire(int permits, AcquireOptions options) throws InterruptedException;

    /** As {@link #tryAcquire(int)}, for one permit. */
    Optional<Permits> tryAcquire();

    /**
     * Acquires permits without waiting.
     *
     * <p><b>Blocking:</b> for at most one store request, and those that other threads of this process are making.
     * <b>Interruption:</b> has no effect.
     *
     * @param permits 1 to {@link #permits()}
     * @return permits to close, or empty if too few are free or, on a fair semaphore, others wait
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
     * @return a stage that completes with permits to close, or exceptionally with what {@link #acquire(int,
     *     AcquireOptions)} throws, on the client's callback executor
     */
    CompletionStage<Permits> acquireAsync(int permits, AcquireOptions options);

    /**
     * Acquires all free permits, in one hold; at most the declared number.
     *
     * <p><b>Blocking:</b> for a few store requests. <b>Interruption:</b> has no effect.
     *
     * @return permits to close, or empty if none are free, if others are repeatedly faster or, on a fair semaphore,
     *     if others wait
     * @throws LockMismatchException if the name is in use as something else, or with another number or order
     */
    Optional<Permits> drainPermits();

    /**
     * The number of free permits at the time of the store's reply. Permits that this process keeps for its next thread
     * count as held. Never negative, even if more are held than exist after a {@link #resize(int)}.
     *
     * <p><b>Blocking:</b> for one store request, at most for twice the store time-out. <b>Interruption:</b> has no
     * effect, and the flag stays set.
     *
     * @throws LockMismatchException if the name is in use as something else, or with another number or order
     * @throws StoreUnavailableException if the store did not answer
     */
    int availablePermits();

    /**
     * Changes the number of permits while the semaphore is in use. If there are more, waiters are admitted at once. If
     * there are fewer, holders keep theirs, and requests that can never be granted fail with {@link
     * LockMismatchException} when they reach the head of the queue.
     *
     * <p><b>Blocking:</b> for one store request, at most for twice the store time-out. <b>Interruption:</b> has no
     * effect, and the flag stays set.
     *
     * @return false if the semaphore is not in use, so that there is nothing to change: the next user declares the
     *     number
     * @throws IllegalArgumentException if {@code permits} is not positive
     * @throws LockMismatchException if the name is in use as something else
     * @throws StoreUnavailableException if the store did not answer; the number may have been changed
     */
    @CanIgnoreReturnValue
    boolean resize(int permits);

    /**
     * Releases permits that any process has acquired, by their {@linkplain Permits#permitId() id}. Their owner notices
     * at its next release, or within a session ttl.
     *
     * <p><b>Blocking:</b> for one store request, at most for twice the store time-out. <b>Interruption:</b> has no
     * effect, and the flag stays set.
     *
     * @return false if there are no such permits: they were released or lost before, or belong to another semaphore
     * @throws IllegalArgumentException if this can't be the id of permits
     * @throws StoreUnavailableException if the store did not answer; the permits may have been released
     */
    boolean release(String permitId);
}
