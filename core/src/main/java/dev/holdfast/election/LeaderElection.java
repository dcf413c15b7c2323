package dev.holdfast.election;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import dev.holdfast.ClientClosedException;
import dev.holdfast.DistributedLock;
import dev.holdfast.StoreRefusedException;
import dev.holdfast.StoreUnavailableException;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;

/**
 * An election on one name: of all who campaign for it, in all processes that use the same store, at most one leads.
 *
 * <pre>{@code
 * LeaderElection election = holdfast.election("scheduler");
 * try (Campaign campaign = election.campaign(leadership -> {
 *     while (leadership.isLeader()) {
 *         Job job = jobs.take();
 *         leadership.ensureLeader();
 *         job.run(leadership.term());
 *     }
 * })) {
 *     serve();
 * }
 * }</pre>
 *
 * <p><b>What it guarantees.</b> As long as there is one copy of the truth at the store, at most one {@link Leadership}
 * of a name {@linkplain Leadership#isLeader() leads} at any moment. Every time somebody is elected a new <em>term</em>
 * begins; its number is the fencing token of the grant, and greater than that of every term before. A leader learns
 * that its time is over before the store can elect another.
 *
 * <p><b>What it does not guarantee.</b> A term is a lease, with all that {@link DistributedLock} says of leases: code
 * that is paused outlives it. Pass the term to whatever the leader writes to, and have smaller ones refused there.
 *
 * <p><b>Order.</b> Candidates are elected first in, first out, by the time at which they began to wait. Several
 * campaigns of one client on one name are several candidates; of these one at a time stands in the store's queue, and
 * the next takes its place when that one's term or wait is over.
 *
 * <p><b>Thread-safety:</b> an election is immutable and may be shared; two of one client and name are the same. One
 * that nobody campaigns in or observes costs the store nothing.
 */
public interface LeaderElection {

    /** The name that is campaigned for. */
    String name();

    /** Campaigns with the default options, as {@link #campaign(CampaignOptions, Candidate)}. */
    Campaign campaign(Candidate candidate);

    /**
     * Begins to campaign, and goes on until the campaign or the client is closed: waits to be elected, leads, and after
     * every end of a term and every trouble stands again. Does not block.
     *
     * @throws ClientClosedException if the client was closed
     */
    Campaign campaign(CampaignOptions options, Candidate candidate);

    /**
     * Tells who leads, now and whenever that changes, until the observation or the client is closed. Does not block.
     *
     * <p>The observer is told each change once, first of all the present state; terms never go back. It sees the store,
     * which it asks at intervals: soon after a change every tenth of a second, then less often, at least every two
     * seconds. What begins and ends between two looks is not seen, and while the store can't be reached nothing is
     * told; the end of a leader that has died is told when its lease is over. The observer runs on the client's
     * callback executor, never twice at a time; one that blocks delays itself alone. What it throws is logged.
     *
     * @throws ClientClosedException if the client was closed
     */
    @CanIgnoreReturnValue
    Observation observe(Consumer<? super LeaderView> observer);

    /**
     * Asks the store once who leads. Does not block.
     *
     * @return a stage that ends, on the client's callback executor, with the answer, or exceptionally with {@link
     *     StoreUnavailableException}, {@link StoreRefusedException} or {@link ClientClosedException}
     */
    CompletionStage<LeaderView> leader();

    /** An observer that was named, to be closed. */
    interface Observation extends AutoCloseable {

        /** Ends the observation: the observer is not called any more, but may be running. Idempotent; never blocks. */
        @Override
        void close();
    }
}
