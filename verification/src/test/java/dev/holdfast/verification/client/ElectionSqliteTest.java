package dev.holdfast.verification.client;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.Holdfast;
import dev.holdfast.election.Campaign;
import dev.holdfast.election.LeaderView;
import dev.holdfast.election.Leadership;
import dev.holdfast.verification.world.Eventually;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

@DisplayName("An election between two clients of one SQLite file")
class ElectionSqliteTest {

    @TempDir
    private Path folder;

    @Test
    @Tag("E1")
    @Tag("E2")
    @Tag("E8")
    @DisplayName("E1, E2, E8: has one leader at a time, in rising terms, and who watches sees who it is")
    void takesTurns() {
        String uri = "sqlite:" + folder.resolve("locks.db");
        AtomicInteger leading = new AtomicInteger();
        List<Long> terms = Collections.synchronizedList(new ArrayList<>());
        List<Integer> crowds = Collections.synchronizedList(new ArrayList<>());
        List<LeaderView> seen = Collections.synchronizedList(new ArrayList<>());
        try (Holdfast alice = Holdfast.builder(uri).label("alice").build();
                Holdfast bob = Holdfast.builder(uri).label("bob").build()) {
            bob.election("scheduler").observe(seen::add);
            List<Campaign> campaigns = new ArrayList<>();
            for (Holdfast client : List.of(alice, bob, alice)) {
                campaigns.add(client.election("scheduler").campaign(leadership -> {
                    crowds.add(leading.incrementAndGet());
                    terms.add(leadership.term());
                    leadership.awaitEnd();
                    leading.decrementAndGet();
                }));
            }
            for (int turn = 1; turn <= 30; turn++) {
                int least = turn;
                Eventually.holds("somebody leads", () -> terms.size() >= least);
                Leadership present = campaigns.stream()
                        .flatMap(campaign -> campaign.leadership().stream())
                        .findFirst()
                        .orElseThrow();
                if (turn == 30) {
                    String leader = campaigns.get(1).leadership().isPresent() ? "bob" : "alice";
                    LeaderView now = new LeaderView(present.term(), Optional.of(leader));
                    Eventually.holds("the observer sees " + now, () -> seen.contains(now));
                }
                present.resign();
            }
            campaigns.forEach(Campaign::close);
            assertThat(leading).hasValue(0);
        }
        assertThat(crowds).containsOnly(1);
        assertThat(terms).isSorted().doesNotHaveDuplicates();
        assertThat(seen).doesNotHaveDuplicates().extracting(LeaderView::term).isSorted();
    }
}
