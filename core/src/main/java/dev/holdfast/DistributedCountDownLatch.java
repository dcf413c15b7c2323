package dev.holdfast;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import java.time.Duration;
import java.util.concurrent.CompletionStage;

/**
 * A count-down latch that is shared by all processes that use the same store: its waiters pass when the count is zero.
 *
 * <pre>{@code
 * DistributedCountDownLatch imported = holdfast.latch("imported");
 * if (imported.trySetCount(files.size())) {
 *     files.forEach(file -> queue.send(file));      // each worker: importFile(file); imported.countDown(file);
 * }
 * imported.await();
 * }</pre>
 *
 * <p><b>Generations.</b> The count can be set if it was never set, or if the latch is open. This begins a generation,
 * whose number is greater than all before it. While the latch counts, it can't be set. It is open when the count has
 * reached zero, and stays open until it is set again. A caller that is waiting when it opens passes, even if the latch
 * is set again before the caller is notified. There are two exceptions, which wait for the new generation: a caller
 * whose claim had not reached the store yet (a window of one round trip after {@link #await()} was called), and a
 * client that was cut off from the store until its session ended.
 *
 * <p><b>A latch that was never set is open.</b> Set it before its waiters start, or let them check the {@linkplain
 * #generation() generation}.
 *
 * <p><b>Counting once.</b> Each count-down has an id, which counts once in a generation, no matter how often it is
 * sent: the client repeats commands that the store has not answered, and a program can choose the ids, so that work
 * that is done twice counts once. A count-down applies to the generation that is current when the call begins; a late
 * one never affects the next.
 *
 * <p><b>A count has no owner.</b> It depends on no session: a latch that counts stays at the store until the count is
 * zero, even if processes die. A worker that never counts down keeps it closed forever, so give {@link
 * #await(Duration)} a maximum. Each store decides how long it remembers an open latch. A forgotten latch is like one
 * that was never set, and its generations start again.
 *
 * <p><b>Memory effects:</b> actions of a thread before it counts down happen-before actions of a waiter <em>in this
 * JVM</em> after it has passed; between processes there is no such edge.
 *
 * <p><b>Exceptions that every method may throw</b>, in addition to those it names: {@link StoreUnavailableException},
 * {@link StoreRefusedException}, {@link LockMismatchException} where the name is in use as something else, and {@link
 * ClientClosedException}.
 *
 * <p><b>Blocking:</b> except for {@link #await()} and its variants, and for those that return stages, methods wait for
 * the store's reply, at most for the store time-out. An <b>interrupt</b> has no effect on them, and the flag stays set.
 *
 * <p><b>Thread-safety:</b> all methods may be called from any thread.
 */
public interface DistributedCountDownLatch {

    /** The name of the resource. */
    String name();

    /**
     * Sets the count and so begins a generation, unless the latch is counting.
     *
     * @param count at least 1
     * @return whether this call has set the count; if not, another call had set it
     * @throws IllegalArgumentException if the count is not positive
     * @throws StoreUnavailableException if the store did not answer; whether the count is set is unknown; {@link
     *     #count()} returns it later
     */
    boolean trySetCount(long count);

    /** As {@link #trySetCount(long)}, without blocking. */
    CompletionStage<Boolean> trySetCountAsync(long count);

    /**
     * Counts down by one; without effect if the latch is open or was never set.
     *
     * @return what is left to count
     * @throws StoreUnavailableException if the store did not answer; whether it counted is unknown; to repeat the
     *     call, use the id that the exception names
     */
    @CanIgnoreReturnValue
    long countDown();

    /**
     * Counts down by one, unless this id has counted in the current generation.
     *
     * @param id 1 to 64 printable ASCII characters without blanks
     * @return what is left to count
     * @throws IllegalArgumentException if the id is not of that form
     * @throws StoreUnavailableException if the store did not answer; whether it counted is unknown, and the call may
     *     be repeated with the same id
     */
    @CanIgnoreReturnValue
    long countDown(String id);

    /**
     * Counts down by one in one generation: for work that is handed out with the {@linkplain #generation() number} of
     * the generation, and may be finished, or repeated, long after that has ended.
     *
     * @param id as in {@link #countDown(String)}
     * @param generation the generation to count in, at least 1
     * @return whether that generation is the current one, so that the id counted now or before; if not, nothing was
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

    /** The number of the current generation, which counts or is open; 0 if the latch was never set. */
    long generation();

    /**
     * Waits until the latch is open, without a limit.
     *
     * <p><b>Blocking:</b> parks the calling thread. Safe on virtual threads.
     *
     * @throws InterruptedException if interrupted before or while waiting
     */
    void await() throws InterruptedException;

    /**
     * Waits until the latch is open, or until {@code maxWait} has passed.
     *
     * <p><b>Blocking:</b> parks the calling thread for at most {@code maxWait} plus one store request; zero checks
     * once.
     *
     * @param maxWait zero or longer; beyond 146 years means forever
     * @return whether it is open
     * @throws IllegalArgumentException if {@code maxWait} is negative
     * @throws InterruptedException if interrupted before or while waiting
     */
    boolean await(Duration maxWait) throws InterruptedException;

    /**
     * Waits until the latch is open, without blocking. Cancelling the stage's {@linkplain
     * CompletionStage#toCompletableFuture() future} ends the wait.
     *
     * @return a stage that completes on the client's callback executor
     */
    CompletionStage<Void> awaitAsync();
}
