package dev.holdfast.election;

import dev.holdfast.AcquireOptions;
import dev.holdfast.ClientClosedException;
import dev.holdfast.DistributedLock;
import dev.holdfast.LockMismatchException;
import dev.holdfast.LockedTask;
import dev.holdfast.StoreRefusedException;
import dev.holdfast.StoreUnavailableException;

/**
 * What somebody who campaigns does when elected.
 *
 * <p>The methods are called one at a time, in the order in which things happened, on the executor of the campaign
 * ({@link CampaignOptions#withExecutor}): by default on a thread of its own, so that one that blocks keeps nobody else
 * waiting, and no renewal.
 */
@FunctionalInterface
public interface Candidate {

    /**
     * Leads. Called once for each term; a term that is over before the executor comes to it is skipped.
     *
     * <p>Returning does not end the term: it lasts until it is lost, {@linkplain Leadership#resign() resigned}, or the
     * campaign is closed. If that happens while this method runs, its thread is interrupted; the interrupt never
     * outlives the call. It nests with those of tasks {@linkplain DistributedLock#callWhileHeld(AcquireOptions,
     * LockedTask) under locks}: the end of a task that lost its lock leaves it set. The next term does not begin before
     * this method has returned.
     *
     * @throws Exception ends the term, with {@link TermEnd.Reason#FAILED}; the candidate stands again after a pause.
     *     What is thrown after the end of the term because of the interrupt is no error
     */
    void onElected(Leadership leadership) throws Exception;

    /**
     * The term is over. Called once for each term for which {@link #onElected} was called, after that has returned.
     *
     * <p>A term that is given up (resigned, failed, the campaign closed) is kept at the store until this method has
     * returned, so that the next leader begins after it. A term that was lost may be another's by now.
     */
    default void onTermEnd(Leadership leadership, TermEnd end) {}

    /**
     * Something failed, and was logged; the campaign goes on after a pause. Told are what the methods of the candidate
     * throw, the troubles of the store while it waits to be elected ({@link StoreUnavailableException}, {@link
     * StoreRefusedException}, {@link LockMismatchException} where the name is in use as something else), and, as the
     * last call of all, the {@link ClientClosedException} that ends a campaign together with its client.
     */
    default void onError(Throwable failure) {}
}
