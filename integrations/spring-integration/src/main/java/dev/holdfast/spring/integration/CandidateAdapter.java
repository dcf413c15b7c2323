package dev.holdfast.spring.integration;

import dev.holdfast.LockMismatchException;
import dev.holdfast.StoreRefusedException;
import dev.holdfast.StoreUnavailableException;
import dev.holdfast.election.Candidate;
import dev.holdfast.election.Leadership;
import dev.holdfast.election.TermEnd;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.integration.leader.Context;
import org.springframework.integration.leader.event.LeaderEventPublisher;

/** A candidate of Spring Integration in a campaign of Holdfast. Immutable. */
final class CandidateAdapter implements Candidate {

    private static final Logger log = LoggerFactory.getLogger(CandidateAdapter.class);

    private final Object source;
    private final org.springframework.integration.leader.Candidate candidate;
    private final LeaderEventPublisher publisher;
    private final boolean publishesFailures;

    /** @param source the publisher of the events */
    CandidateAdapter(
            Object source,
            org.springframework.integration.leader.Candidate candidate,
            LeaderEventPublisher publisher,
            boolean publishesFailures) {
        this.source = source;
        this.candidate = candidate;
        this.publisher = publisher;
        this.publishesFailures = publishesFailures;
    }

    @Override
    public void onElected(Leadership leadership) throws InterruptedException {
        Context context = contextOf(leadership);
        candidate.onGranted(context);
        publish(() -> publisher.publishOnGranted(source, context, candidate.getRole()));
    }

    @Override
    public void onTermEnd(Leadership leadership, TermEnd end) {
        Context context = contextOf(leadership);
        try {
            candidate.onRevoked(context);
        } finally {
            publish(() -> publisher.publishOnRevoked(source, context, candidate.getRole()));
        }
    }

    @Override
    public void onError(Throwable failure) {
        boolean isOfStore = failure instanceof StoreUnavailableException
                || failure instanceof StoreRefusedException
                || failure instanceof LockMismatchException;
        if (publishesFailures && isOfStore) {
            Context none = new TermContext(candidate.getRole(), Optional.empty());
            publish(() -> publisher.publishOnFailedToAcquire(source, none, candidate.getRole()));
        }
    }

    private Context contextOf(Leadership leadership) {
        return new TermContext(candidate.getRole(), Optional.of(leadership));
    }

    /** Catches failures of listeners, which must not end a term. */
    private void publish(Runnable event) {
        try {
            event.run();
        } catch (RuntimeException e) {
            log.warn("resource={} an event could not be published", candidate.getRole(), e);
        }
    }
}
