package dev.holdfast.spring.leader;

import dev.holdfast.Holdfast;
import dev.holdfast.election.Campaign;
import dev.holdfast.election.CampaignOptions;
import dev.holdfast.election.Candidate;
import dev.holdfast.election.Leadership;
import dev.holdfast.election.TermEnd;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.springframework.context.ApplicationEventPublisher;
import org.springframework.context.ApplicationEventPublisherAware;
import org.springframework.context.SmartLifecycle;

/**
 * The candidacy of an application in an election, as a bean: it campaigns while the application runs, answers whether
 * it leads, and publishes what happens.
 *
 * <pre>
 * &#64;Bean
 * LeaderCampaign importer(Holdfast holdfast) {
 *     return new LeaderCampaign(holdfast, "importer");
 * }
 *
 * &#64;EventListener
 * void lead(LeadershipGrantedEvent granted) { ... }
 * </pre>
 *
 * <p>It starts after and stops before all that has no phase of its own, so that an application that is shut down gives
 * up its term while its beans still work. {@link LeadershipGrantedEvent}, {@link LeadershipRevokedEvent} and {@link
 * TermEndedEvent} tell when they are published, and on which threads; their listeners tell several elections apart by
 * name. Between events, ask {@link #isLeader()} before each step, and write with {@link Leadership#term()}.
 *
 * <p><b>Thread-safety:</b> all methods may be called from any thread.
 */
public final class LeaderCampaign implements SmartLifecycle, ApplicationEventPublisherAware {

    private final Holdfast client;
    private final String election;
    private final CampaignOptions options;
    private ApplicationEventPublisher publisher = event -> {};
    private volatile @Nullable Campaign campaign;

    /** A campaign with the default options, which begins when the application does. */
    public LeaderCampaign(Holdfast client, String election) {
        this(client, election, CampaignOptions.defaults());
    }

    /**
     * A campaign that begins when the application does.
     *
     * @throws IllegalArgumentException if the name is none
     */
    public LeaderCampaign(Holdfast client, String election, CampaignOptions options) {
        this.client = client;
        this.election = client.election(election).name();
        this.options = options;
    }

    @Override
    public void setApplicationEventPublisher(ApplicationEventPublisher applicationEventPublisher) {
        publisher = applicationEventPublisher;
    }

    /** Begins to campaign, if it does not already. Does not block. */
    @Override
    public synchronized void start() {
        if (!isRunning()) {
            campaign = client.election(election).campaign(options, new Publishing());
        }
    }

    /** Ends the campaign as {@link Campaign#close()} does: a term is given up. */
    @Override
    public void stop() {
        Campaign present = campaign;
        if (present != null) {
            present.close();
        }
    }

    @Override
    public boolean isRunning() {
        Campaign present = campaign;
        return present != null && present.state() != Campaign.State.ENDED;
    }

    /** The name that is campaigned for. */
    public String election() {
        return election;
    }

    /** Whether this application leads now, see {@link Leadership#isLeader()}. Answered without the store. */
    public boolean isLeader() {
        return leadership().map(Leadership::isLeader).orElse(false);
    }

    /** The present term; empty while this application does not lead. */
    public Optional<Leadership> leadership() {
        Campaign present = campaign;
        return present == null ? Optional.empty() : present.leadership();
    }

    /**
     * Gives up the present term and stands again behind all who wait. Never blocks.
     *
     * @return whether there was a term to give up
     */
    public boolean resign() {
        Campaign present = campaign;
        return present != null && present.resign();
    }

    /** Publishes what happens to the campaign. */
    private final class Publishing implements Candidate {

        @Override
        public void onElected(Leadership leadership) {
            long term = leadership.term();
            leadership.onLost(loss -> publisher.publishEvent(new LeadershipRevokedEvent(election, term, loss)));
            publisher.publishEvent(new LeadershipGrantedEvent(election, leadership));
        }

        @Override
        public void onTermEnd(Leadership leadership, TermEnd end) {
            publisher.publishEvent(new TermEndedEvent(election, leadership.term(), end));
        }
    }
}
