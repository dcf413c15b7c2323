package dev.holdfast;

import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletionStage;

/**
 * A door that opens when a number of parties stand before it, and that they leave together: shared by every process
 * that uses the same store.
 *
 * <pre>{@code
 * DistributedDoubleBarrier stage = holdfast.barrier("stage-1", 3);
 * try (BarrierMembership membership = stage.enter()) {      // waits until three are there
 *     compute();
 *     membership.leave();                            // waits until all three have left
 * }
 * }</pre>
 *
 * <p><b>Entering.</b> {@link #enter()} returns when there was a moment at which as many parties as were declared were
 * all entering, all of them alive by the store's record, and none of them inside from before. These are one
 * <em>generation</em>, with a {@linkplain BarrierMembership#generation() number} that is the same for all of them and
 * above those of all before.
 *
 * <p><b>Leaving.</b> {@link BarrierMembership#leave()} returns when no member of the generation is inside any more.
 * Others may be entering by then: who comes while a generation is inside waits for the next, and one more than the
 * parties waits until a place is free; who of several then gets it is not a matter of who came first.
 *
 * <p><b>Crashes.</b> Presence is a lease. A party that dies before the door opens is not counted, once its lease is
 * over; one that dies inside counts as having left. A crash at any moment neither opens the door for fewer parties nor
 * keeps anybody inside.
 *
 * <p><b>Giving up.</b> A party whose wait is over, or who is interrupted, and the opening exclude each other: either it
 * is not counted, or the door is open, and then it enters. This can't be told while the store does not answer, nor
 * while a party that is about to open takes longer than the store time-out, because it is slow, or dead and its lease
 * not over. Then, after the store time-out, the exception says so: it has another suppressed. The place of the party
 * stays taken until nobody can open for it any more, and is given back in the background. A party whose client is
 * closed is as one that dies.
 *
 * <p><b>How many parties</b> is declared by all who use the name; who declares another number while anybody is there is
 * refused with {@link LockMismatchException}.
 *
 * <p><b>Time.</b> The party that comes last opens the door; the others look for it, at most an eighth longer than they
 * have waited so far and at most a quarter of a second.
 *
 * <p><b>At the store</b> a barrier is a semaphore of its name, and a latch and a lock whose names are the same with
 * {@code #opened} and {@code #door} at the end; nothing else may use these.
 *
 * <p><b>Exceptions that every method that waits may throw</b>, beside those it names:
 * {@link StoreUnavailableException}, {@link StoreRefusedException}, {@link LockMismatchException},
 * {@link LockLostException} if the own presence is lost, and {@link ClientClosedException}. Whoever gets one is not
 * inside.
 *
 * <p><b>Thread-safety:</b> all methods may be called from any thread. Any number of threads of one process may be
 * parties.
 */
public interface DistributedDoubleBarrier {

    /** The name of the resource. */
    String name();

    /** How many enter together. */
    int parties();

    /**
     * Waits until all parties are there, as long as it takes.
     *
     * <p><b>Blocking:</b> waits on the calling thread. Safe on virtual threads.
     *
     * @return what to leave by
     * @throws InterruptedException if interrupted before or while waiting, and the door had not opened by then; if it
     *     had, this returns, and the flag is set
     */
    BarrierMembership enter() throws InterruptedException;

    /**
     * Waits until all parties are there, or until {@code maxWait} has passed.
     *
     * <p><b>Blocking:</b> for {@code maxWait} plus some store requests.
     *
     * @param maxWait zero or longer; values beyond 146 years are taken as for ever
     * @return what to leave by, or empty if not all have come in time
     * @throws IllegalArgumentException if {@code maxWait} is negative
     * @throws InterruptedException as in {@link #enter()}
     */
    Optional<BarrierMembership> tryEnter(Duration maxWait) throws InterruptedException;

    /**
     * Enters without blocking. Cancelling the stage's {@linkplain CompletionStage#toCompletableFuture() future} gives
     * up; if the door has opened by then, the party leaves at once.
     *
     * @return a stage that is completed on the client's callback executor
     */
    CompletionStage<BarrierMembership> enterAsync();
}
