package com.example.leader;

import dev.holdfast.Holdfast;
import dev.holdfast.election.Campaign;
import dev.holdfast.election.Candidate;
import dev.holdfast.election.LeaderElection;
import dev.holdfast.election.Leadership;
import dev.holdfast.election.TermEnd;
import java.time.Duration;

/**
 * One of several processes of which one leads at a time. Start it as often as you like, with the URI of one store and a
 * name for each; then end the one that leads.
 */
public final class LeaderProgram implements Candidate {

    private final String name;

    private LeaderProgram(String name) {
        this.name = name;
    }

    public static void main(String... arguments) {
        String store = arguments[0];
        String name = arguments[1];
        // How long a leader that died without a word keeps its seat.
        Duration ttl = Duration.ofSeconds(5);
        Holdfast holdfast = Holdfast.builder(store)
                .label(name)
                .sessionTtl(ttl)
                .storeTimeout(Duration.ofMinutes(1))
                .build();
        LeaderElection election = holdfast.election("scheduler");

        election.observe(view -> System.out.println(name + " sees that "
                + view.leader().map(leader -> leader + " leads").orElse("nobody leads") + ", term " + view.term()));
        Campaign campaign = election.campaign(new LeaderProgram(name));

        // Who ends in order gives the seat to the next at once. Who is killed can't: that takes the ttl.
        Runtime.getRuntime().addShutdownHook(new Thread(() -> {
            campaign.close();
            holdfast.close();
        }));
        campaign.ended().toCompletableFuture().join();
    }

    @Override
    public void onElected(Leadership leadership) {
        // Whatever a leader writes goes with the term, so that what it is written to can refuse an earlier one.
        System.out.println(name + " leads, term " + leadership.term());
    }

    @Override
    public void onTermEnd(Leadership leadership, TermEnd end) {
        System.out.println(name + " leads no more, term " + leadership.term() + ": " + end.reason());
    }
}
