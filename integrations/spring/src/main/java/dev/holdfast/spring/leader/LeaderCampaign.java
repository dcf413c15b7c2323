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
 * A candidate in an election, as a bean: it campaigns while the application runs, knows whether the application leads,
 * and publishes events.
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
 * <p>By its phase it starts after and stops before beans without one, so that an application resigns while its beans
 * still work. {@link LeadershipGrantedEvent}, {@link LeadershipRevokedEvent} and {@link TermEndedEvent} describe when
 * and on which threads they are published; listeners distinguish several elections by name. Between events, check
 * {@link #isLeader()} before each step, and write with {@link Leadership#term()}.
 *
 * <p><b>Thread-safety:</b> all methods may be called from any thread.
 */
public final class LeaderCampaign implements SmartLifecycle, ApplicationEventPublisherAware {

    private final Holdfast client;
    private final String election;
    private final CampaignOptions options;
    private ApplicationEventPublisher publisher = event -> {};
    private volatile @Nullable Campaign campaign;

    /** A campaign with the default options, which begins when the application starts. */
    public LeaderCampaign(Holdfast client, String election) {
        this(client, election, CampaignOptions.defaults());
    }

    /**
     * A campaign that begins when the application starts.
     *
     * @throws IllegalArgumentException if the name is invalid
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

    /** Begins to campaign, unless it does already. Does not block. */
    @Override
    public synchronized void start() {
        if (!isRunning()) {
            campaign = client.election(election).campaign(options, new Publishing());
        }
    }

    /** Ends the campaign like {@link Campaign#close()}: resigns a present term. */
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

    /** The name of the election. */
    public String election() {
        return election;
    }

    /** Whether this application leads now, see {@link Leadership#isLeader()}. Sends nothing to the store. */
    public boolean isLeader() {
        return leadership().map(Leadership::isLeader).orElse(false);
    }

    /** The present term; empty while this application does not lead. */
    public Optional<Leadership> leadership() {
        Campaign present = campaign;
        return present == null ? Optional.empty() : present.leadership();
    }

    /**
     * Resigns the present term and queues behind all other candidates. Never blocks.
     *
     * @return whether there was a term
     */
    public boolean resign() {
        Campaign present = campaign;
        return present != null && present.resign();
    }

    /** Publishes the events of the campaign. */
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
