package dev.holdfast.verification.client;

import dev.holdfast.Holdfast;
import dev.holdfast.election.Campaign;
import dev.holdfast.election.CampaignOptions;
import dev.holdfast.election.Candidate;
import dev.holdfast.election.Leadership;
import dev.holdfast.election.TermEnd;
import dev.holdfast.verification.world.FaultyLink;
import dev.holdfast.verification.world.World;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AutoClose;

/** Two clients that campaign in virtual time. */
abstract class ElectionFixture {

    static final Duration TTL = Duration.ofSeconds(30);

    @AutoClose
    final World world = World.still();

    final FaultyLink aliceLink = world.link();
    final FaultyLink bobLink = world.link();
    final Holdfast atAlice = world.client("alice", aliceLink);
    final Holdfast atBob = world.client("bob", bobLink);
    final CampaignOptions still =
            CampaignOptions.defaults().withExecutor(world.time().callbacks());

    /** Notes what happens to it, and whether one of its calls comes while another is under way. */
    static class Recorder implements Candidate {
        final List<String> story = Collections.synchronizedList(new ArrayList<>());
        final List<Leadership> terms = Collections.synchronizedList(new ArrayList<>());
        final List<Throwable> errors = Collections.synchronizedList(new ArrayList<>());
        private final AtomicBoolean isBusy = new AtomicBoolean();

        @Override
        public void onElected(Leadership leadership) throws Exception {
            begin();
            terms.add(leadership);
            story.add("elected");
            lead(leadership);
            isBusy.set(false);
        }

        void lead(Leadership leadership) throws Exception {}

        @Override
        public void onTermEnd(Leadership leadership, TermEnd end) {
            begin();
            story.add(leadership == terms.get(terms.size() - 1) ? end.reason().name() : "the end of another term");
            isBusy.set(false);
        }

        @Override
        public void onError(Throwable failure) {
            // May come while onElected is on its way out with just that.
            isBusy.set(false);
            errors.add(failure);
        }

        private void begin() {
            if (!isBusy.compareAndSet(false, true)) {
                story.add("two calls at once");
            }
        }

        Leadership term() {
            return terms.get(terms.size() - 1);
        }
    }

    Campaign campaign(Holdfast client, Candidate candidate) {
        return campaign(client, still, candidate);
    }

    Campaign campaign(Holdfast client, CampaignOptions options, Candidate candidate) {
        Campaign campaign = client.election("scheduler").campaign(options, candidate);
        world.time().settle();
        return campaign;
    }

    /** Lets time pass in small steps, so that what callbacks set off happens in its time. */
    void lives(Duration time) {
        for (long millis = 0; millis < time.toMillis(); millis += 50) {
            world.advance(Duration.ofMillis(50));
        }
    }

    // ---- Leading
}
