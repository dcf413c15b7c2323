package dev.holdfast;

import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletionStage;

/**
 * A double barrier that is shared by all processes that use the same store: a number of parties enter together, and
 * leave together.
 *
 * <pre>{@code
 * DistributedDoubleBarrier stage = holdfast.barrier("stage-1", 3);
 * try (BarrierMembership membership = stage.enter()) {      // waits until three are there
 *     compute();
 *     membership.leave();                            // waits until all three have left
 * }
 * }</pre>
 *
 * <p><b>Entering.</b> {@link #enter()} returns once the declared number of live parties have been entering at the same
 * moment, none of which was inside before. They form a <em>generation</em>, whose {@linkplain
 * BarrierMembership#generation() number} is the same for all of them and greater than all before.
 *
 * <p><b>Leaving.</b> {@link BarrierMembership#leave()} returns when all members of the generation have left. Other
 * parties may be entering by then: a party that comes while a generation is inside waits for the next one, and more
 * parties than declared wait until a place is free, in no particular order.
 *
 * <p><b>Crashes.</b> A membership is a lease. A party that dies before the barrier opens is not counted once its lease
 * has ended; one that dies inside counts as having left. A crash at any moment neither opens the barrier for fewer
 * parties nor keeps others inside.
 *
 * <p><b>Giving up.</b> A party that times out or is interrupted is either not counted, or the barrier is open and the
 * party enters. The client can't know which while the store does not answer, or while the party that is opening the
 * barrier takes longer than the store time-out (because it is slow, or dead and its lease has not ended). After the
 * store time-out, the exception says so with a {@linkplain Throwable#getSuppressed() suppressed} one. The place of the
 * party stays taken until no other party can count it, and is released in the background. A party whose client is
 * closed is like one that dies.
 *
 * <p><b>The number of parties</b> is declared by all users of the name. Another number is rejected with {@link
 * LockMismatchException} while the barrier is in use.
 *
 * <p><b>Time.</b> The party that comes last opens the barrier. The others poll, at intervals of at most an eighth of
 * their wait so far and at most a quarter of a second.
 *
 * <p><b>At the store</b> a barrier is a semaphore of its name, and a latch and a lock whose names are the same with
 * {@code #opened} and {@code #door} at the end; nothing else may use these.
 *
 * <p><b>Exceptions that every method that waits may throw</b>, in addition to those it names: {@link
 * StoreUnavailableException}, {@link StoreRefusedException}, {@link LockMismatchException}, {@link LockLostException}
 * if the caller's membership is lost, and {@link ClientClosedException}. After any of them the caller is not inside.
 *
 * <p><b>Thread-safety:</b> all methods may be called from any thread. Any number of threads of one process may be
 * parties.
 */
public interface DistributedDoubleBarrier {

    /** The name of the resource. */
    String name();

    /** The number of parties that enter together. */
    int parties();

    /**
     * Waits until all parties have come, without a limit.
     *
     * <p><b>Blocking:</b> waits on the calling thread. Safe on virtual threads.
     *
     * @return the membership, by which to leave
     * @throws InterruptedException if interrupted before or while waiting, unless the barrier had opened by then: in
     *     that case this returns, and the flag is set
     */
    BarrierMembership enter() throws InterruptedException;

    /**
     * Waits until all parties have come, or until {@code maxWait} has passed.
     *
     * <p><b>Blocking:</b> for {@code maxWait} plus a few store requests.
     *
     * @param maxWait zero or longer; beyond 146 years means forever
     * @return the membership, or empty if not all have come in time
     * @throws IllegalArgumentException if {@code maxWait} is negative
     * @throws InterruptedException as in {@link #enter()}
     */
    Optional<BarrierMembership> tryEnter(Duration maxWait) throws InterruptedException;

    /**
     * Enters without blocking. Cancelling the stage's {@linkplain CompletionStage#toCompletableFuture() future} gives
     * up; if the barrier has opened by then, the party leaves at once.
     *
     * @return a stage that completes on the client's callback executor
     */
    CompletionStage<BarrierMembership> enterAsync();
}
