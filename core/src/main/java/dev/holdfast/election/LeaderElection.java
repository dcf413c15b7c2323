package dev.holdfast.election;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import dev.holdfast.ClientClosedException;
import dev.holdfast.DistributedLock;
import dev.holdfast.StoreRefusedException;
import dev.holdfast.StoreUnavailableException;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;

/**
 * An election with a name: of all its candidates, in all processes that use the same store, at most one leads.
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
 * <p><b>What it guarantees.</b> As long as the store has a single state, at most one {@link Leadership} of a name
 * {@linkplain Leadership#isLeader() leads} at any moment. Each time a candidate is elected, a new <em>term</em> begins;
 * its number is the fencing token of the grant, and greater than that of every term before. A leader is notified that
 * its term has ended before the store can elect another.
 *
 * <p><b>What it does not guarantee.</b> A term is a lease, with all that {@link DistributedLock} says of leases: paused
 * code can outlive it. Send the term with every write of the leader, and let the system you write to reject smaller
 * ones.
 *
 * <p><b>Order.</b> Candidates are elected first in, first out, by the time at which they began to wait. Several
 * campaigns of one client on one name are several candidates. Only one of these at a time waits in the store's queue;
 * the next one follows when that one's term or wait has ended.
 *
 * <p><b>Thread-safety:</b> an election is immutable and may be shared; two elections of one client and name are the
 * same. Without candidates and observers it costs the store nothing.
 */
public interface LeaderElection {

    /** The name of the election. */
    String name();

    /** Campaigns with the default options, as {@link #campaign(CampaignOptions, Candidate)}. */
    Campaign campaign(Candidate candidate);

    /**
     * Starts a campaign, which lasts until it or the client is closed: it waits to be elected, leads, and waits again
     * after each term and each failure. Does not block.
     *
     * @throws ClientClosedException if the client was closed
     */
    Campaign campaign(CampaignOptions options, Candidate candidate);

    /**
     * Notifies an observer of the leader, at once and at every change, until the observation or the client is closed.
     * Does not block.
     *
     * <p>The observer is notified of the current leader first, and then once of each change; terms never decrease. It
     * polls the store: every tenth of a second after a change, then less often, at least every two seconds. Terms that
     * begin and end between two polls are not reported, nor is anything while the store can't be reached. A leader that
     * died is reported as gone when its lease ends. The observer runs on the client's callback executor, never twice at
     * a time; one that blocks delays only itself. What it throws is logged.
     *
     * @throws ClientClosedException if the client was closed
     */
    @CanIgnoreReturnValue
    Observation observe(Consumer<? super LeaderView> observer);

    /**
     * Reads the current leader from the store. Does not block.
     *
     * @return a stage that completes, on the client's callback executor, with the leader, or exceptionally with {@link
     *     StoreUnavailableException}, {@link StoreRefusedException} or {@link ClientClosedException}
     */
    CompletionStage<LeaderView> leader();

    /** The registration of an observer. */
    interface Observation extends AutoCloseable {

        /**
         * Ends the observation. The observer may still be running, but is not called again. Idempotent; never blocks.
         */
        @Override
        void close();
    }
}
