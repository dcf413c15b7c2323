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
 * A mutual-exclusion lock with a name, shared by all processes that use the same store.
 *
 * <pre>{@code
 * DistributedLock lock = holdfast.lock("invoice-run");
 * try (Hold hold = lock.acquire(Duration.ofSeconds(5))) {
 *     ledger.append(entry, hold.fencingToken());
 * }
 * }</pre>
 *
 * <p><b>What it guarantees.</b> As long as the store has a single state, at most one {@link Hold} of a name is
 * {@linkplain Hold#isHeld() held} at any moment. Each has a greater {@linkplain Hold#fencingToken() token} than all
 * before it, only its owner can release it, and its owner is notified of its loss.
 *
 * <p><b>What it does not guarantee.</b> A lock here is a lease. Code can outlive its lease (a long GC pause, a frozen
 * machine or a slow network is enough), and then two processes may run at once. Where that would do harm, send the
 * token with every write, and let the system you write to reject smaller ones; nothing else closes this gap.
 *
 * <p><b>Ownership.</b> Locks acquired by {@link #lock()}, {@link #acquire()}, {@link #tryLock()} and their variants
 * belong to the calling thread and are re-entrant: the thread may acquire again, with the same token, and the lock is
 * free after the same number of releases. A hold of {@link #acquireAsync()} belongs to itself: any thread may close it,
 * and acquiring is not re-entrant, not even for a thread that holds the lock.
 *
 * <p><b>Order.</b> Between processes first in, first out, unless the lock was opened as {@linkplain
 * LockOptions#barging() barging}. Within a process a released lock is handed over in memory, first in, first out
 * except for short bounded bursts, in which a thread that acquires it again is served first. A process that others wait
 * for yields after its {@linkplain Holdfast.Builder#cohortBudget(Duration) cohort budget}.
 *
 * <p><b>Memory effects.</b> Actions of a thread before it releases the lock happen-before actions of the next owner
 * <em>in this JVM</em> after acquiring it. Processes have no such edge: after acquiring, read the guarded data from its
 * source.
 *
 * <p><b>Interruption.</b> Methods that declare {@link InterruptedException} end the wait at an interrupt, pending or
 * arriving: the flag is cleared, and the claim is withdrawn and never holds. {@link #lock()} keeps waiting and keeps
 * the flag. Releasing works with the flag set and keeps it. On SQLite, and on a database that is opened by its URI, the
 * calling thread may make the round trip to the store itself: an interrupt during it takes effect when the reply has
 * arrived or the {@linkplain Holdfast.Builder#storeTimeout store time-out} has passed.
 *
 * <p><b>Exceptions that every acquiring method may throw</b>, in addition to those it names. The caller then holds
 * nothing that it did not hold before:
 *
 * <ul>
 *   <li>{@link StoreUnavailableException}: the store did not answer. It may have granted the lock; such a grant is
 *       withdrawn, or ends with the session.
 *   <li>{@link StoreRefusedException}: the store will not serve this client, or its data is damaged.
 *   <li>{@link LockMismatchException}: the name is in use as something else.
 *   <li>{@link LockDeadlockException}: the wait was the youngest of a deadlock, on a client with {@link
 *       OnDeadlock#FAIL}. Only methods that wait for others throw it.
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
     * As {@link #acquire(Duration)}, without a maximum wait. A store that is silent for the {@linkplain
     * Holdfast.Builder#storeTimeout store time-out} ends the wait with {@link StoreUnavailableException}.
     */
    Hold acquire() throws InterruptedException;

    /**
     * Waits until this lock is granted to the calling thread, or until {@code maxWait} has passed.
     *
     * <p><b>Blocking:</b> parks the calling thread for at most {@code maxWait} while others have the lock. If the store
     * has not answered by then, the call waits for its reply, so that a wait shorter than a round trip ends as granted
     * or taken. It waits until the {@linkplain Holdfast.Builder#storeTimeout store time-out} since the call began, or
     * for up to a second if that is later; then it ends, even if the store, a connection pool or the name service does
     * not respond. Zero makes a single attempt. Safe on virtual threads.
     *
     * @param maxWait zero or longer; beyond 146 years means forever
     * @return a hold to close
     * @throws LockWaitTimeoutException if others kept the lock for all of {@code maxWait}; the caller holds nothing
     * @throws IllegalArgumentException if {@code maxWait} is negative
     * @throws InterruptedException if interrupted before or while waiting
     */
    Hold acquire(Duration maxWait) throws InterruptedException;

    /**
     * Acquires with the options of one call: the maximum wait and the kind of lease.
     *
     * @throws LockWaitTimeoutException if others kept the lock for all of the maximum wait; the caller holds nothing
     * @throws IllegalArgumentException if the store does not support the requested lease
     * @throws IllegalStateException if a thread that holds this lock requests a lease: a nested acquire
     *     never changes the lease of the outer hold
     * @throws InterruptedException if interrupted before or while waiting
     */
    Hold acquire(AcquireOptions options) throws InterruptedException;

    /**
     * Acquires without waiting.
     *
     * <p><b>Blocking:</b> until the store has answered, at most for the {@linkplain Holdfast.Builder#storeTimeout store
     * time-out}, within which a lost request is repeated; not at all if another thread of this process waits for a fair
     * lock. <b>Interruption:</b> has no effect.
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

    /** As {@link #acquireAsync(AcquireOptions)}, without a maximum wait. */
    CompletionStage<Hold> acquireAsync();

    /**
     * Acquires a hold that belongs to itself: any thread may close it, and it is not re-entrant. Never blocks.
     *
     * <p>Cancelling the returned stage's {@linkplain CompletionStage#toCompletableFuture() future} withdraws the
     * claim, which then never holds; a grant that was under way is released.
     *
     * @return a stage that completes with a hold to close, or exceptionally with what {@link #acquire(AcquireOptions)}
     *     throws, on the client's callback executor
     */
    CompletionStage<Hold> acquireAsync(AcquireOptions options);

    /**
     * Runs an action under this lock, as {@link #callWhileHeld(AcquireOptions, LockedTask)}, without a maximum wait.
     */
    default <E extends Exception> void runWhileHeld(LockedAction<E> action) throws E, InterruptedException {
        runWhileHeld(AcquireOptions.defaults(), action);
    }

    /** Runs an action under this lock, as {@link #callWhileHeld(AcquireOptions, LockedTask)}. */
    default <E extends Exception> void runWhileHeld(AcquireOptions options, LockedAction<E> action)
            throws E, InterruptedException {
        callWhileHeld(options, LockedTask.of(action));
    }

    /**
     * Runs a task under this lock, as {@link #callWhileHeld(AcquireOptions, LockedTask)}, without a maximum wait.
     */
    @CanIgnoreReturnValue
    default <T extends @Nullable Object, E extends Exception> T callWhileHeld(LockedTask<T, E> task)
            throws E, InterruptedException {
        return callWhileHeld(AcquireOptions.defaults(), task);
    }

    /**
     * Runs a task under this lock, and interrupts it if the lock is lost before it ends.
     *
     * <p>Waits as {@link #acquire(AcquireOptions)} does. The task runs on the calling thread, which owns the hold. If
     * the hold is lost before the task has ended, the thread is interrupted; this interrupt never outlives the call.
     * Calls nest: if an outer task has lost its lock too, the flag is set when the inner call ends, unless that throws
     * {@link InterruptedException}. An earlier interrupt by others stays.
     *
     * @return what the task returns
     * @throws LockWaitTimeoutException if others kept the lock for all of the maximum wait; the task was not run
     * @throws LockLostException if the hold was lost before the task ended, even if the task returned normally; what
     *     it threw is suppressed
     * @throws IllegalArgumentException if the store does not support the requested lease
     * @throws IllegalStateException if a thread that holds this lock requests a lease
     * @throws InterruptedException if interrupted before or while waiting for the lock
     * @throws E what the task throws
     */
    @CanIgnoreReturnValue
    <T extends @Nullable Object, E extends Exception> T callWhileHeld(AcquireOptions options, LockedTask<T, E> task)
            throws E, InterruptedException;

    /** As {@link #runWhileHeldAsync(AcquireOptions, Function)}, without a maximum wait. */
    default <T extends @Nullable Object> CompletionStage<T> runWhileHeldAsync(
            Function<? super Hold, ? extends CompletionStage<T>> task) {
        return runWhileHeldAsync(AcquireOptions.defaults(), task);
    }

    /**
     * Runs an asynchronous task under this lock, and cancels it if the lock is lost before it ends. Never blocks.
     *
     * <p>Waits as {@link #acquireAsync(AcquireOptions)} does, then calls the task on the client's callback executor.
     * The hold belongs to itself and is released when the task's stage has completed. If it is lost before, the
     * {@linkplain CompletionStage#toCompletableFuture() future} of that stage is cancelled: a task that can stop early
     * listens for that, or for the {@linkplain Hold#onLost(java.util.function.Consumer) loss} itself.
     *
     * <p>Cancelling the returned stage's future withdraws the claim, or cancels the task.
     *
     * @return a stage that completes like the task's once the lock is released; or exceptionally with {@link
     *     LockLostException} if the hold was lost before that, even if the task succeeded, or like that of {@link
     *     #acquireAsync(AcquireOptions)}
     */
    <T extends @Nullable Object> CompletionStage<T> runWhileHeldAsync(
            AcquireOptions options, Function<? super Hold, ? extends CompletionStage<T>> task);

    /**
     * Whether the calling thread holds this lock and its hold is {@linkplain Hold#isHeld() good}. Sends nothing to the
     * store.
     */
    boolean isHeldByCurrentThread();

    /**
     * How many times the calling thread has acquired this lock and not yet released it, even if it was lost. Sends
     * nothing to the store.
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
     * @throws LockLostException if the calling thread has a lost hold of this lock, which {@link #unlock()} must end
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
     * Releases the newest acquisition of the calling thread; the last release frees the lock.
     *
     * <p><b>Blocking:</b> when no thread of this process waits, until the store has answered, at most for the store
     * time-out.
     *
     * @throws NotOwnerException (an {@link IllegalMonitorStateException}) if the calling thread does not hold the
     *     lock; nothing changes
     * @throws LockLostException if the hold was lost before; this call ends it, and never affects another owner's
     *     hold
     * @throws StoreUnavailableException if the store has not confirmed the release; this call ends the hold, the
     *     release is retried in the background, and the lease ends it at the latest
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
