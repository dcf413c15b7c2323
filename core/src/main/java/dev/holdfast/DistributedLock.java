package dev.holdfast;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.Lock;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * A mutual-exclusion lock on one name, shared by every process that uses the same store.
 *
 * <pre>{@code
 * DistributedLock lock = holdfast.lock("invoice-run");
 * try (Hold hold = lock.acquire(Duration.ofSeconds(5))) {
 *     ledger.append(entry, hold.fencingToken());
 * }
 * }</pre>
 *
 * <p><b>What it guarantees.</b> As long as there is one copy of the truth at the store, at most one {@link Hold} of a
 * name is {@linkplain Hold#isHeld() held} at any moment; each has a greater {@linkplain Hold#fencingToken() token}
 * than all before it; only its owner can release it; and its owner is told when it is lost.
 *
 * <p><b>What it does not guarantee.</b> A lock here is a lease. Code can outlive its lease (a pause of the garbage
 * collector, a frozen machine or a slow network is enough), and then two processes may run at once. Where that would
 * do harm, send the token to whatever is protected and have it refuse smaller ones; nothing else closes this gap.
 *
 * <p><b>Ownership.</b> {@link #lock()}, {@link #acquire()} and {@link #tryLock()} with all their forms belong to the
 * calling thread and are re-entrant: the thread may acquire again, with the same token, and the resource is free
 * after as many releases. {@link #acquireAsync()} belongs to the {@link Hold} itself: any thread may close it, and it
 * is not re-entrant, not even for a thread that holds the lock.
 *
 * <p><b>Order.</b> Between processes first in, first out, unless the lock was opened as {@linkplain
 * LockOptions#barging() barging}. Within a process a released lock passes from thread to thread in memory, first in,
 * first out but for short bounded bursts in which a thread that asks again keeps its turn; a process that others wait
 * for gives way after its {@linkplain Holdfast.Builder#cohortBudget(Duration) cohort budget}.
 *
 * <p><b>Memory effects.</b> What a thread did before it released the lock happens-before what the next owner <em>in
 * this JVM</em> does after acquiring it. Between processes there is no such edge: after acquiring, read the guarded
 * data from where it is kept.
 *
 * <p><b>Interruption.</b> Methods that declare {@link InterruptedException} end the wait at an interrupt, pending or
 * arriving: the flag is cleared, the claim is withdrawn and never holds. {@link #lock()} waits on and keeps the flag.
 * Releasing works with the flag set and keeps it. On SQLite, and on a database that is opened by its URI, the calling
 * thread may make the round trip to the store itself: an interrupt that arrives meanwhile takes effect when the answer
 * is there, or the {@linkplain Holdfast.Builder#storeTimeout store time-out} is over.
 *
 * <p><b>Exceptions that every acquiring method may throw</b>, beside those it names; the caller then holds nothing
 * that it did not hold before:
 *
 * <ul>
 *   <li>{@link StoreUnavailableException}: the store did not answer. Whether it granted is unknown; such a grant
 *       is withdrawn, or ends with the session.
 *   <li>{@link StoreRefusedException}: the store will not serve this client, or what it holds at our place is damaged.
 *   <li>{@link LockMismatchException}: the name is in use as something else.
 *   <li>{@link LockLostException}: the calling thread still has a lost hold of this lock to close.
 *   <li>{@link ClientClosedException}: the client was closed, before or while waiting.
 * </ul>
 *
 * <p><b>Thread-safety:</b> a lock is immutable and may be shared; two locks of one client and name are the same lock.
 * An idle lock costs the store nothing.
 */
public interface DistributedLock extends Lock, Lockable {

    /** The name of the resource. */
    @Override
    String name();

    /**
     * Waits as long as others keep the lock, in the manner of {@link #acquire(Duration)}. A store that is silent for
     * the {@linkplain Holdfast.Builder#storeTimeout store time-out} ends it with {@link StoreUnavailableException}.
     */
    Hold acquire() throws InterruptedException;

    /**
     * Waits until this lock is granted to the calling thread, or until {@code maxWait} has passed.
     *
     * <p><b>Blocking:</b> parks the calling thread for at most {@code maxWait} while others have the lock. If the store
     * has not answered by then, the call waits for its answer, so that a wait shorter than a round trip ends as granted
     * or taken: until the {@linkplain Holdfast.Builder#storeTimeout store time-out} is over since the call began, and
     * for up to a second at least. It ends then whatever does not answer: the store, a pool of connections or the name
     * service. Zero makes a single attempt. Safe on virtual threads.
     *
     * @param maxWait zero or longer; values beyond 146 years are taken as for ever
     * @return a hold to close
     * @throws LockWaitTimeoutException if others kept the lock for all of {@code maxWait}; the caller holds nothing
     * @throws IllegalArgumentException if {@code maxWait} is negative
     * @throws InterruptedException if interrupted before or while waiting
     */
    Hold acquire(Duration maxWait) throws InterruptedException;

    /**
     * Acquires with the options of one call: how long to wait, and a lease of its own.
     *
     * @throws LockWaitTimeoutException if others kept the lock for all of the maximum wait; the caller holds nothing
     * @throws IllegalArgumentException if a lease is asked for that the store can't keep
     * @throws IllegalStateException if a lease is asked for by a thread that holds this lock: a nested acquire
     *     never changes the lease of the outer hold
     * @throws InterruptedException if interrupted before or while waiting
     */
    Hold acquire(AcquireOptions options) throws InterruptedException;

    /**
     * Acquires without waiting.
     *
     * <p><b>Blocking:</b> until the store has answered, at most for the {@linkplain Holdfast.Builder#storeTimeout store
     * time-out}, within which a request that was lost is repeated; not at all if a thread of this process waits for a
     * fair lock. <b>Interruption:</b> has no effect.
     *
     * @return a hold to close, or empty if another holds the lock or, on a fair lock, waits for it
     */
    Optional<Hold> tryAcquire();

    /**
     * Acquires within {@code maxWait}; as {@link #acquire(Duration)}, with "taken" as a value.
     *
     * @return a hold to close, or empty if others kept the lock for all of {@code maxWait}
     * @throws IllegalArgumentException if {@code maxWait} is negative
     * @throws InterruptedException if interrupted before or while waiting
     */
    Optional<Hold> tryAcquire(Duration maxWait) throws InterruptedException;

    /**
     * Acquires with the options of one call; as {@link #acquire(AcquireOptions)}, with "taken" as a value.
     *
     * @return a hold to close, or empty if others kept the lock for all of the maximum wait
     * @throws InterruptedException if interrupted before or while waiting
     */
    Optional<Hold> tryAcquire(AcquireOptions options) throws InterruptedException;

    /** Acquires for the hold itself, waiting as long as it takes; as {@link #acquireAsync(AcquireOptions)}. */
    CompletionStage<Hold> acquireAsync();

    /**
     * Acquires for the hold itself: any thread may close it, and it is not re-entrant. Never blocks.
     *
     * <p>Cancelling the returned stage's {@linkplain CompletionStage#toCompletableFuture() future} withdraws the
     * claim, which then never holds; a grant that was already under way is given back.
     *
     * @return a stage that ends with a hold to close, or exceptionally with what {@link #acquire(AcquireOptions)}
     *     throws; it is completed on the client's callback executor
     */
    CompletionStage<Hold> acquireAsync(AcquireOptions options);

    /**
     * Does something under this lock, as {@link #callWhileHeld(AcquireOptions, LockedTask)}; waits as long as it takes.
     */
    default <E extends Exception> void runWhileHeld(LockedAction<E> action) throws E, InterruptedException {
        runWhileHeld(AcquireOptions.defaults(), action);
    }

    /** Does something under this lock, as {@link #callWhileHeld(AcquireOptions, LockedTask)}. */
    default <E extends Exception> void runWhileHeld(AcquireOptions options, LockedAction<E> action)
            throws E, InterruptedException {
        callWhileHeld(options, LockedTask.of(action));
    }

    /**
     * Runs a task under this lock, as {@link #callWhileHeld(AcquireOptions, LockedTask)}; waits as long as it takes.
     */
    @CanIgnoreReturnValue
    default <T extends @Nullable Object, E extends Exception> T callWhileHeld(LockedTask<T, E> task)
            throws E, InterruptedException {
        return callWhileHeld(AcquireOptions.defaults(), task);
    }

    /**
     * Runs a task under this lock, and interrupts it if the lock is lost meanwhile.
     *
     * <p>Waits as {@link #acquire(AcquireOptions)} does. The task runs on the calling thread, which owns the hold. If
     * the hold is lost the thread is interrupted, unless the task has ended by then; that interrupt never outlives this
     * call. Calls nest: if an outer task has lost its lock, too, the flag is set when the inner call ends, unless that
     * throws {@link InterruptedException}. An interrupt by others that came first stays.
     *
     * @return what the task returns
     * @throws LockWaitTimeoutException if others kept the lock for all of the maximum wait; the task was not run
     * @throws LockLostException if the hold was lost before the task ended, whatever the task returned or threw;
     *     what it threw is suppressed in it
     * @throws IllegalArgumentException if a lease is asked for that the store can't keep
     * @throws IllegalStateException if a lease is asked for by a thread that holds this lock
     * @throws InterruptedException if interrupted before or while waiting for the lock
     * @throws E what the task throws
     */
    @CanIgnoreReturnValue
    <T extends @Nullable Object, E extends Exception> T callWhileHeld(AcquireOptions options, LockedTask<T, E> task)
            throws E, InterruptedException;

    /** Runs an asynchronous task under this lock; waits as long as it takes. */
    default <T extends @Nullable Object> CompletionStage<T> runWhileHeldAsync(
            Function<? super Hold, ? extends CompletionStage<T>> task) {
        return runWhileHeldAsync(AcquireOptions.defaults(), task);
    }

    /**
     * Runs an asynchronous task under this lock, and cancels it if the lock is lost meanwhile. Never blocks.
     *
     * <p>Waits as {@link #acquireAsync(AcquireOptions)} does, then calls the task on the client's callback executor.
     * The hold belongs to itself and is released when the task's stage has ended. If it is lost before, the {@linkplain
     * CompletionStage#toCompletableFuture() future} of that stage is cancelled: a task that can stop early listens for
     * that, or for the {@linkplain Hold#onLost(java.util.function.Consumer) loss} itself.
     *
     * <p>Cancelling the returned stage's future withdraws the claim, or cancels the task.
     *
     * @return a stage that ends, once the lock is released, as the task's did; or exceptionally with {@link
     *     LockLostException} if the hold was lost before, whatever the task came to, or with what {@link
     *     #acquireAsync(AcquireOptions)} ends with
     */
    <T extends @Nullable Object> CompletionStage<T> runWhileHeldAsync(
            AcquireOptions options, Function<? super Hold, ? extends CompletionStage<T>> task);

    /** Whether the calling thread holds this lock, and its lease is good. Answered without the store. */
    boolean isHeldByCurrentThread();

    /**
     * How often the calling thread has acquired this lock and not yet released it, lost or not; 0 if it has not.
     * Answered without the store.
     */
    int holdCount();

    /**
     * Waits until the lock is granted to the calling thread. An interrupt does not end the wait; the flag is set
     * again on return.
     */
    @Override
    void lock();

    /** Waits until the lock is granted to the calling thread or the thread is interrupted. */
    @Override
    void lockInterruptibly() throws InterruptedException;

    /**
     * As {@link #tryAcquire()}, with the hold kept by the thread.
     *
     * @throws LockLostException if the calling thread has a lost hold of this lock: {@link #unlock()} gives that up
     *     first
     */
    @Override
    boolean tryLock();

    /**
     * As {@link #tryAcquire(Duration)}, with the hold kept by the thread; a time that is not positive makes one
     * attempt.
     */
    @Override
    boolean tryLock(long time, TimeUnit unit) throws InterruptedException;

    /**
     * Gives back the newest acquisition of the calling thread; the last one frees the lock.
     *
     * <p><b>Blocking:</b> when no thread of this process waits, until the store has answered, at most for the store
     * time-out.
     *
     * @throws NotOwnerException (an {@link IllegalMonitorStateException}) if the calling thread does not hold the
     *     lock; nothing changes
     * @throws LockLostException if the hold was lost before; it is given up by this call, and another owner's
     *     lock is never touched
     * @throws StoreUnavailableException if the store has not confirmed the release; the hold is given up by this
     *     call, the release is repeated in the background, and the lease ends the hold at the latest
     */
    @Override
    void unlock();

    /**
     * There are no conditions across processes.
     *
     * @throws UnsupportedOperationException always
     */
    @Override
    Condition newCondition();
}
