package dev.holdfast.election;

import dev.holdfast.AcquireOptions;
import dev.holdfast.ClientClosedException;
import dev.holdfast.DistributedLock;
import dev.holdfast.LockMismatchException;
import dev.holdfast.LockedTask;
import dev.holdfast.StoreRefusedException;
import dev.holdfast.StoreUnavailableException;

/**
 * A participant of an election.
 *
 * <p>The methods are called one at a time, in the order of events, on the executor of the campaign ({@link
 * CampaignOptions#withExecutor}). By default that is a new thread, so that a candidate that blocks delays neither
 * others nor renewals.
 */
@FunctionalInterface
public interface Candidate {

    /**
     * Leads. Called once for each term; a term that ends before the executor runs this call is skipped.
     *
     * <p>Returning does not end the term: it lasts until it is lost, {@linkplain Leadership#resign() resigned}, or the
     * campaign is closed. If that happens while this method runs, its thread is interrupted; the interrupt never
     * outlives the call. It nests with those of tasks {@linkplain DistributedLock#callWhileHeld(AcquireOptions,
     * LockedTask) under locks}: the end of a task that lost its lock leaves it set. The next term does not begin before
     * this method has returned.
     *
     * @throws Exception ends the term, with {@link TermEnd.Reason#FAILED}; the candidate waits again after a pause.
     *     Exceptions caused by the interrupt at the end of the term are not errors
     */
    void onElected(Leadership leadership) throws Exception;

    /**
     * The term has ended. Called once for each term for which {@link #onElected} was called, after that has returned.
     *
     * <p>If the term was resigned, failed, or the campaign was closed, its grant is kept at the store until this method
     * has returned, so that the next leader begins after it. If it was lost, another may lead by now.
     */
    default void onTermEnd(Leadership leadership, TermEnd end) {}

    /**
     * Something failed and was logged; the campaign continues after a pause. Reports what the methods of the candidate
     * throw, failures of the store while waiting to be elected ({@link StoreUnavailableException}, {@link
     * StoreRefusedException}, {@link LockMismatchException} if the name is in use as something else), and, as the last
     * call of all, the {@link ClientClosedException} that ends a campaign together with its client.
     */
    default void onError(Throwable failure) {}
}
