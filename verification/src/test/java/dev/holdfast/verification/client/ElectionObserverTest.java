package dev.holdfast.verification.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.Hold;
import dev.holdfast.StoreRefusedException;
import dev.holdfast.election.Campaign;
import dev.holdfast.election.LeaderElection;
import dev.holdfast.election.LeaderView;
import dev.holdfast.spi.Command;
import dev.holdfast.spi.StoreException;
import dev.holdfast.verification.world.FaultyLink;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@DisplayName("An election")
@Tag("E8")
class ElectionObserverTest extends ElectionFixture {

    // ---- Observing

    @Test
    @DisplayName(
            "E8: an observer sees the present state and each change once, terms never go back, labels name the leader")
    void observes() {
        List<LeaderView> seen = Collections.synchronizedList(new ArrayList<>());
        Recorder alice = new Recorder();
        Recorder bob = new Recorder();
        LeaderElection.Observation observation =
                world.client("carol").election("scheduler").observe(seen::add);
        lives(Duration.ofSeconds(5));
        assertThat(seen).containsExactly(LeaderView.NOBODY);

        Campaign first = campaign(atAlice, alice);
        Campaign second = campaign(atBob, bob);
        lives(Duration.ofSeconds(5));
        first.close();
        lives(Duration.ofSeconds(5));
        second.close();
        lives(Duration.ofSeconds(5));

        long last = bob.term().term();
        assertThat(seen)
                .containsExactly(
                        LeaderView.NOBODY,
                        new LeaderView(alice.term().term(), Optional.of("alice")),
                        new LeaderView(last, Optional.of("bob")),
                        new LeaderView(last, Optional.empty()));

        observation.close();
        campaign(atAlice, alice).close();
        lives(Duration.ofSeconds(5));
        assertThat(seen).hasSize(4);
    }

    @Test
    @DisplayName("E8: names that begin like the one that is observed are not mistaken for it, nor is a lock")
    void observesExactly() throws Exception {
        List<LeaderView> seen = Collections.synchronizedList(new ArrayList<>());
        Campaign longer = atAlice.election("scheduler-2").campaign(still, leadership -> {});
        Campaign shorter = atAlice.election("schedule").campaign(still, leadership -> {});
        atBob.election("scheduler").observe(seen::add);
        lives(Duration.ofSeconds(3));
        try (Hold hold = atAlice.lock("scheduler").acquire()) {
            lives(Duration.ofSeconds(3));
            assertThat(hold.isHeld()).isTrue();
        }
        assertThat(seen).containsExactly(LeaderView.NOBODY);
        assertThat(longer.leadership()).isPresent();
        assertThat(shorter.leadership()).isPresent();
    }

    @Test
    @DisplayName(
            "E8: an observer looks less and less often while nothing changes, and at once when its own client is elected")
    void observesAdaptively() {
        List<LeaderView> seen = Collections.synchronizedList(new ArrayList<>());
        atAlice.election("scheduler").observe(seen::add);
        lives(Duration.ofSeconds(30));
        aliceLink.forget();
        lives(Duration.ofSeconds(60));
        assertThat(aliceLink.sent(Command.Inspect.class).size()).isBetween(24, 40);

        campaign(atAlice, new Recorder());
        world.time().settle();
        assertThat(seen).hasSize(2);
    }

    @Test
    @DisplayName("E8: a view that is older than one that was told is not told")
    void observesNothingStale() {
        List<LeaderView> seen = Collections.synchronizedList(new ArrayList<>());
        Recorder alice = new Recorder();
        Recorder bob = new Recorder();
        Campaign first = campaign(atAlice, alice);
        FaultyLink link = world.link();
        world.client("carol", link).election("scheduler").observe(seen::add);
        world.time().settle();
        FaultyLink.HeldUp look = link.holdUpNext(Command.Inspect.class);
        lives(Duration.ofSeconds(3));
        var stale = look.deliver();
        first.close();
        campaign(atBob, bob);
        link.mend();
        // The first poll has taken too long, and the next one has seen bob.
        lives(Duration.ofSeconds(10));
        assertThat(seen).last().isEqualTo(new LeaderView(bob.term().term(), Optional.of("bob")));
        int before = seen.size();
        link.answerNext(Command.Inspect.class, stale);
        lives(Duration.ofSeconds(10));
        assertThat(seen).hasSize(before);
        assertThat(seen).extracting(LeaderView::term).isSorted();
    }

    @Test
    @DisplayName("E8: one look tells who leads")
    void looksOnce() throws Exception {
        LeaderElection election = atBob.election("scheduler");
        assertThat(election.leader().toCompletableFuture().get(60, TimeUnit.SECONDS))
                .isEqualTo(LeaderView.NOBODY);
        Recorder alice = new Recorder();
        campaign(atAlice, alice);
        assertThat(election.leader().toCompletableFuture().get(60, TimeUnit.SECONDS))
                .isEqualTo(new LeaderView(alice.term().term(), Optional.of("alice")));
        bobLink.failNext(Command.Inspect.class, StoreException.Reason.UNAVAILABLE, StoreException.Effect.NONE);
        assertThat(election.leader().toCompletableFuture().get(60, TimeUnit.SECONDS))
                .as("one lost message")
                .isEqualTo(new LeaderView(alice.term().term(), Optional.of("alice")));
        bobLink.failNext(Command.Inspect.class, StoreException.Reason.DENIED, StoreException.Effect.NONE);
        assertThatThrownBy(() -> election.leader().toCompletableFuture().get(60, TimeUnit.SECONDS))
                .hasCauseInstanceOf(StoreRefusedException.class);
    }
}
