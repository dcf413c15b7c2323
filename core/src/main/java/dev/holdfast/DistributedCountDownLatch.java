package dev.holdfast;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import java.time.Duration;
import java.util.concurrent.CompletionStage;

/**
 * A count that goes down to zero and lets everybody pass then, shared by every process that uses the same store.
 *
 * <pre>{@code
 * DistributedCountDownLatch imported = holdfast.latch("imported");
 * if (imported.trySetCount(files.size())) {
 *     files.forEach(file -> queue.send(file));      // each worker: importFile(file); imported.countDown(file);
 * }
 * imported.await();
 * }</pre>
 *
 * <p><b>Generations.</b> A latch that was never set, or is open, can be set: that begins a generation, with a number
 * above all before it. While it counts, nobody can set it. It is open when it has counted to zero, stays open until it
 * is set again, and never goes below zero. A caller that is waiting when it opens passes, even if it learns of that
 * after the latch was set again. There are two exceptions, which wait for the new generation: a caller whose claim had
 * not reached the store yet (a window of one round trip after {@link #await()} was called), and a client that was cut
 * off from the store until its session ended.
 *
 * <p><b>A latch that is not set lets everybody pass.</b> Set it before those start who wait for it, or {@linkplain
 * #generation() look} whether it was set.
 *
 * <p><b>Counting once.</b> Each count-down has an id, and an id counts once in a generation, however often it is sent:
 * by the client, which repeats what the store has not answered, or by the program, which gives an id of its own so that
 * work that is done twice counts once. A count-down is for the generation that is present when the call begins; one
 * that is late can't hurt the next.
 *
 * <p><b>Nobody owns a count.</b> It hangs on no session: a latch that counts stays at the store, whoever dies, until it
 * has counted to zero. A worker that never counts down keeps it closed for ever; give {@link #await(Duration)} a
 * maximum. How long an open latch is remembered is the store's affair; once forgotten it is as one that was never set,
 * and its generations begin anew.
 *
 * <p><b>Memory effects:</b> what a thread did before it counted down happens-before what a thread of <em>this JVM</em>
 * does after passing, if it waited for that; between processes there is no such edge.
 *
 * <p><b>Exceptions that every method may throw</b>, beside those it names: {@link StoreUnavailableException}, {@link
 * StoreRefusedException}, {@link LockMismatchException} where the name is in use as something else, and {@link
 * ClientClosedException}.
 *
 * <p><b>Blocking:</b> but for {@link #await()} and its other forms, and for stages, methods wait for the store's
 * answer, at most for the store time-out; an <b>interrupt</b> has no effect on them, and the flag stays set.
 *
 * <p><b>Thread-safety:</b> all methods may be called from any thread.
 */
public interface DistributedCountDownLatch {

    /** The name of the resource. */
    String name();

    /**
     * Sets the count, unless the latch is counting, and so begins a generation.
     *
     * @param count at least 1
     * @return whether this call has set it; if not, it counts what another has set
     * @throws IllegalArgumentException if the count is not positive
     * @throws StoreUnavailableException if the store did not answer; whether the count is set is unknown, and {@link
     *     #count()} tells it later
     */
    boolean trySetCount(long count);

    /** As {@link #trySetCount(long)}, without blocking. */
    CompletionStage<Boolean> trySetCountAsync(long count);

    /**
     * Counts down by one; without effect if the latch is open or was never set.
     *
     * @return what is left to count
     * @throws StoreUnavailableException if the store did not answer; whether it counted is unknown, and a call that
     *     repeats it needs the id that the exception names
     */
    @CanIgnoreReturnValue
    long countDown();

    /**
     * Counts down by one, unless this id has counted in the present generation.
     *
     * @param id 1 to 64 printable ASCII characters, none of them a blank
     * @return what is left to count
     * @throws IllegalArgumentException if the id is not of that form
     * @throws StoreUnavailableException if the store did not answer; whether it counted is unknown, and it may be
     *     repeated with the same id
     */
    @CanIgnoreReturnValue
    long countDown(String id);

    /**
     * Counts down by one in one generation: for work that is handed out with the {@linkplain #generation() number} of
     * the generation, and may be finished, or done again, when that is long over.
     *
     * @param id as in {@link #countDown(String)}
     * @param generation the generation to count in, at least 1
     * @return whether that generation is the present one, so that it was counted now or before; if not, nothing was
     *     changed
     * @throws IllegalArgumentException if the id is not of that form, or the generation is not positive
     * @throws StoreUnavailableException as in {@link #countDown(String)}
     */
    @CanIgnoreReturnValue
    boolean countDown(String id, long generation);

    /** As {@link #countDown(String)}, without blocking. */
    CompletionStage<Long> countDownAsync(String id);

    /** What is left to count; 0 if the latch is open or was never set. */
    long count();

    /** As {@link #count()}, without blocking. */
    CompletionStage<Long> countAsync();

    /** The number of the present generation, whether it counts or is open; 0 if the latch was never set. */
    long generation();

    /**
     * Waits until the latch is open, as long as it takes.
     *
     * <p><b>Blocking:</b> parks the calling thread. Safe on virtual threads.
     *
     * @throws InterruptedException if interrupted before or while waiting
     */
    void await() throws InterruptedException;

    /**
     * Waits until the latch is open, or until {@code maxWait} has passed.
     *
     * <p><b>Blocking:</b> parks the calling thread for at most {@code maxWait} plus one store request; zero asks once.
     *
     * @param maxWait zero or longer; values beyond 146 years are taken as for ever
     * @return whether it is open
     * @throws IllegalArgumentException if {@code maxWait} is negative
     * @throws InterruptedException if interrupted before or while waiting
     */
    boolean await(Duration maxWait) throws InterruptedException;

    /**
     * Ends when the latch is open. Never blocks. Cancelling the stage's {@linkplain
     * CompletionStage#toCompletableFuture() future} ends the wait.
     *
     * @return a stage that is completed on the client's callback executor
     */
    CompletionStage<Void> awaitAsync();
}
