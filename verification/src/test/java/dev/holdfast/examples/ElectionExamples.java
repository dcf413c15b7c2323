package dev.holdfast.examples;

import dev.holdfast.Holdfast;
import dev.holdfast.election.Campaign;
import dev.holdfast.election.CampaignOptions;
import dev.holdfast.election.Candidate;
import dev.holdfast.election.LeaderElection;
import dev.holdfast.election.Leadership;
import dev.holdfast.election.TermEnd;
import java.time.Duration;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;

/** The code that the page on elections shows, compiled. */
@SuppressWarnings("unused")
final class ElectionExamples {

    private final BlockingQueue<Job> jobs = new LinkedBlockingQueue<>();
    private final Scheduler scheduler = new Scheduler();
    private final Log log = message -> {};

    private interface Job {
        void run(long term);
    }

    private interface Log {
        void note(String message);
    }

    private static final class Scheduler {
        void start(long term) {}

        void stop() {}
    }

    void campaign(Holdfast holdfast) {
        Campaign campaign = holdfast.election("scheduler").campaign(leadership -> {
            while (leadership.isLeader()) {
                Job job = jobs.take(); // interrupted when the term is over
                leadership.ensureLeader();
                job.run(leadership.term());
            }
        });
        campaign.close();
    }

    void service(LeaderElection election) {
        Campaign campaign = election.campaign(new Candidate() {
            @Override
            public void onElected(Leadership leadership) {
                scheduler.start(leadership.term()); // returns; the term continues
            }

            @Override
            public void onTermEnd(Leadership leadership, TermEnd end) {
                scheduler.stop(); // a resigned term passes on after this
            }

            @Override
            public void onError(Throwable failure) {
                log.note("the election failed, and is retried: " + failure);
            }
        });
        campaign.close();
    }

    void giveUp(Campaign campaign, Leadership leadership) {
        campaign.resign(); // joins the end of the queue, and may lead again
        leadership.resignAndLeave(); // leads no more
        campaign.close(); // the same from outside; waits until the candidate is done
    }

    void options(LeaderElection election, Candidate candidate, java.util.concurrent.Executor executor) {
        Campaign campaign = election.campaign(
                CampaignOptions.defaults()
                        .withExecutor(executor)
                        .withLongestPause(Duration.ofMinutes(1))
                        .withShortestPause(Duration.ofMillis(200)),
                candidate);
        campaign.close();
    }

    void watch(Holdfast holdfast) {
        LeaderElection.Observation observation = holdfast.election("scheduler")
                .observe(view ->
                        log.note("term " + view.term() + ": " + view.leader().orElse("nobody leads")));
        observation.close();
    }
}
