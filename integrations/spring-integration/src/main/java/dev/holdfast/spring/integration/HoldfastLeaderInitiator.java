package dev.holdfast.spring.integration;

import dev.holdfast.Holdfast;
import dev.holdfast.election.Campaign;
import dev.holdfast.election.Leadership;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.DisposableBean;
import org.springframework.context.ApplicationEventPublisher;
import org.springframework.context.ApplicationEventPublisherAware;
import org.springframework.context.SmartLifecycle;
import org.springframework.integration.leader.Candidate;
import org.springframework.integration.leader.Context;
import org.springframework.integration.leader.event.DefaultLeaderEventPublisher;
import org.springframework.integration.leader.event.LeaderEventPublisher;

/**
 * A leader initiator of Spring Integration on an election of Holdfast.
 *
 * <pre>{@code
 * @Bean
 * HoldfastLeaderInitiator leaderInitiator(Holdfast holdfast) {
 *     return new HoldfastLeaderInitiator(holdfast, new DefaultCandidate("node-1", "scheduler"));
 * }
 * }</pre>
 *
 * <p>It campaigns for the role of its candidate from {@link #start()} to {@link #stop()}, and notifies the candidate
 * and, by {@code OnGrantedEvent} and {@code OnRevokedEvent}, the application when a term begins and ends. Unlike {@code
 * LockRegistryLeaderInitiator} it occupies no thread while it waits or leads, sends the store only keep-alives of the
 * client's session, and is elected as soon as the previous leader resigns. {@link Context#isLeader()} turns false
 * before the store can elect another leader.
 *
 * <p>{@link Candidate#onGranted} is called on a separate thread, which is interrupted when the term ends; the events
 * follow when it has returned. A candidate that throws ends its term and campaigns again after a pause.
 *
 * <p><b>Thread-safety:</b> set up by one thread before it is started; then all methods may be called from any thread.
 * The client is the caller's, and is not closed.
 */
public final class HoldfastLeaderInitiator implements SmartLifecycle, DisposableBean, ApplicationEventPublisherAware {

    /** The prefix of the role in the name of the election. */
    public static final String PREFIX = "spring-integration-leader:";

    /** The same phase as other leader initiators. */
    private static final int DEFAULT_PHASE = Integer.MAX_VALUE - 1000;

    private final Holdfast holdfast;
    private final Candidate candidate;
    private final ReentrantLock lock = new ReentrantLock();
    private @Nullable LeaderEventPublisher publisher;
    private @Nullable ApplicationEventPublisher events;
    private boolean autoStartup = true;
    private boolean publishesFailures;
    private int phase = DEFAULT_PHASE;

    /** Written under the lock. */
    private volatile @Nullable Campaign campaign;

    /** Campaigns for the role of a candidate, once it is started. */
    public HoldfastLeaderInitiator(Holdfast holdfast, Candidate candidate) {
        this.holdfast = Objects.requireNonNull(holdfast, "holdfast");
        this.candidate = Objects.requireNonNull(candidate, "candidate");
    }

    /** The publisher of the events; the application context if not set. */
    public void setLeaderEventPublisher(LeaderEventPublisher leaderEventPublisher) {
        publisher = leaderEventPublisher;
    }

    /** Whether failures of the store are published as {@code OnFailedToAcquireMutexEvent}; false if not set. */
    public void setPublishFailedEvents(boolean publishFailedEvents) {
        publishesFailures = publishFailedEvents;
    }

    @Override
    public void setApplicationEventPublisher(ApplicationEventPublisher applicationEventPublisher) {
        events = applicationEventPublisher;
    }

    /** Whether it starts with the application context; true if not set. */
    public void setAutoStartup(boolean autoStartup) {
        this.autoStartup = autoStartup;
    }

    @Override
    public boolean isAutoStartup() {
        return autoStartup;
    }

    /** The phase in which it starts and stops; late and early if not set. */
    public void setPhase(int phase) {
        this.phase = phase;
    }

    @Override
    public int getPhase() {
        return phase;
    }

    /** Begins to campaign. Does not wait to be elected. */
    @Override
    public void start() {
        lock.lock();
        try {
            if (campaign == null) {
                CandidateAdapter adapter = new CandidateAdapter(this, candidate, eventPublisher(), publishesFailures);
                campaign = holdfast.election(PREFIX + candidate.getRole()).campaign(adapter);
            }
        } finally {
            lock.unlock();
        }
    }

    private LeaderEventPublisher eventPublisher() {
        if (publisher != null) {
            return publisher;
        }
        return events == null ? new DefaultLeaderEventPublisher() : new DefaultLeaderEventPublisher(events);
    }

    /**
     * Ends the campaign: resigns a present term, and notifies the candidate.
     *
     * <p><b>Blocking:</b> until {@link Candidate#onGranted}, which is interrupted, and {@link Candidate#onRevoked} have
     * returned and the store has replied, at most for the store time-out.
     */
    @Override
    public void stop() {
        Campaign ending;
        lock.lock();
        try {
            ending = campaign;
            campaign = null;
        } finally {
            lock.unlock();
        }
        if (ending != null) {
            ending.close();
        }
    }

    /** Whether it campaigns. */
    @Override
    public boolean isRunning() {
        return campaign != null;
    }

    @Override
    public void destroy() {
        stop();
    }

    /** The present term, or one that does not lead. */
    public Context getContext() {
        Campaign present = campaign;
        Optional<Leadership> leadership = present == null ? Optional.empty() : present.leadership();
        return new TermContext(candidate.getRole(), leadership);
    }
}
