package dev.holdfast.task;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import dev.holdfast.ClientClosedException;
import dev.holdfast.Hold;
import dev.holdfast.LockLostException;
import dev.holdfast.LockMismatchException;
import dev.holdfast.LockedAction;
import dev.holdfast.LockedTask;
import dev.holdfast.StoreRefusedException;
import dev.holdfast.StoreUnavailableException;
import java.util.Optional;
import java.util.concurrent.CompletionStage;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * A guard for a job that is scheduled in several processes, so that only one of them runs it.
 *
 * <pre>{@code
 * ScheduledTaskLock nightly = holdfast.task("nightly-report");
 * TaskOptions options = TaskOptions.atMost(ofHours(1)).withAtLeast(ofMinutes(5));
 * timer.scheduleAtFixedRate(() -> nightly.runIfDue(options, hold -> write(report)), 0, 1, DAYS);
 * }</pre>
 *
 * <p>The first process runs the job. Others that come while it runs, or within {@code atLeast} of its start, skip it;
 * they never wait. Clocks that differ by less than {@code atLeast} therefore don't cause a second run of a short job.
 *
 * <p><b>What it guarantees.</b> As long as the store has a single state, no other process starts the job from its start
 * until it has ended <em>and</em> {@code atLeast} has passed. After {@code atMost} others may start it, even if the
 * process that runs it is still alive. The task is notified a margin (of a tenth, as everywhere) before that. The lock
 * is <em>detached</em>: unlike other holds it depends neither on the session nor on the process.
 *
 * <p><b>What it does not guarantee.</b> That a job is run at all, or completely, or never twice: a task that outlives
 * {@code atMost} overlaps with the next one. Send the {@linkplain Hold#fencingToken() token} with its writes. After a
 * crash the job is not run until {@code atMost} has passed: choose the longest run that you expect, not more.
 *
 * <p>A task lock is never re-entrant: a task that runs its own job again skips it.
 *
 * <p><b>Thread-safety:</b> immutable and may be shared. An idle one costs the store nothing.
 */
public interface ScheduledTaskLock {

    /** The name of the job. */
    String name();

    /**
     * Runs an action unless another process runs it or has started it less than {@code atLeast} ago; as {@link
     * #callIfDue(TaskOptions, LockedTask)}.
     *
     * @return whether it was run; its result is null
     */
    @CanIgnoreReturnValue
    default <E extends Exception> TaskRun<@Nullable Void> runIfDue(TaskOptions options, LockedAction<E> action)
            throws E {
        return callIfDue(options, LockedTask.of(action));
    }

    /**
     * Runs a task unless another process runs it or has started it less than {@code atLeast} ago.
     *
     * <p>The task runs on the calling thread. If its hold is lost before the task has ended, at the latest
     * shortly before {@code atMost}, the thread is interrupted; this interrupt never outlives the call. When the task
     * returns or throws, the lock is released, or kept until {@code atLeast} has passed since the start of the task. A
     * task may close its hold; the lock then ends in the same way, at once.
     *
     * <p><b>Blocking:</b> for the store's reply, at most for the store time-out, before and after the task.
     * <b>Interruption:</b> has no effect; the flag stays set, for the task to see.
     *
     * @param options how long the lock may last, and how long it lasts even if the task ends early
     * @return what the task returned, or that it was skipped; an unconfirmed release is logged and retried, and {@code
     *     atMost} ends the lock at the latest
     * @throws LockLostException if the hold was lost before the task ended, even if the task returned normally; what
     *     it threw is suppressed
     * @throws StoreUnavailableException if the store did not answer, so that the task was not run. It may have granted
     *     the lock; such a grant is withdrawn, or ends after {@code atMost}
     * @throws StoreRefusedException if the store will not serve this client; the task was not run
     * @throws LockMismatchException if the name is in use as something else; the task was not run
     * @throws ClientClosedException if the client was closed; the task was not run
     * @throws E what the task throws
     */
    @CanIgnoreReturnValue
    <T extends @Nullable Object, E extends Exception> TaskRun<T> callIfDue(TaskOptions options, LockedTask<T, E> task)
            throws E;

    /**
     * As {@link #callIfDue}, for a task that ends when its stage completes. Never blocks. The task is
     * called on the client's callback executor. If its hold is lost, the {@linkplain
     * CompletionStage#toCompletableFuture() future} of its stage is cancelled.
     *
     * <p>Cancelling the returned stage's future cancels the task, or keeps it from being run.
     *
     * @return a stage that completes on the callback executor with the result, or exceptionally with what {@link
     *     #callIfDue} throws or with the failure of the task's stage
     */
    @CanIgnoreReturnValue
    <T extends @Nullable Object> CompletionStage<TaskRun<T>> runIfDueAsync(
            TaskOptions options, Function<? super Hold, ? extends CompletionStage<T>> task);

    /**
     * Begins the job by hand unless another process runs it or has started it less than {@code atLeast} ago: for
     * schedulers that begin and end a task by two calls. A loss interrupts nothing; {@link Hold#onLost} reports it.
     *
     * <p><b>Blocking:</b> for the store's reply, at most for the store time-out. <b>Interruption:</b> has no effect,
     * and the flag stays set.
     *
     * @param options how long the lock may last, and how long it lasts even if the task ends early
     * @return a hold to close when the task has ended, or empty if the task must be skipped
     * @throws StoreUnavailableException if the store did not answer. It may have granted the lock; such a grant is
     *     withdrawn, or ends after {@code atMost}
     * @throws StoreRefusedException if the store will not serve this client
     * @throws LockMismatchException if the name is in use as something else
     * @throws ClientClosedException if the client was closed
     */
    Optional<TaskHold> tryBegin(TaskOptions options);
}
