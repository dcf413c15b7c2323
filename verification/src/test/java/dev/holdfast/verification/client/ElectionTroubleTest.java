package dev.holdfast.verification.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.Hold;
import dev.holdfast.LockLostException;
import dev.holdfast.LockMismatchException;
import dev.holdfast.Loss;
import dev.holdfast.StoreUnavailableException;
import dev.holdfast.election.Campaign;
import dev.holdfast.election.Campaign.State;
import dev.holdfast.election.CampaignOptions;
import dev.holdfast.election.Candidate;
import dev.holdfast.election.Leadership;
import dev.holdfast.election.TermEnd;
import dev.holdfast.spi.Command;
import dev.holdfast.spi.StoreException;
import dev.holdfast.verification.world.Eventually;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@DisplayName("An election")
class ElectionTroubleTest extends ElectionFixture {

    // ---- Continuing

    @Test
    @Tag("E5")
    @DisplayName("E5: who lost stands again after a pause, and leads again in a greater term")
    void rejoinsAfterLoss() {
        Recorder alice = new Recorder();
        Campaign campaign = campaign(atAlice, alice);
        world.releaseByForce("scheduler");
        world.time().settle();
        assertThat(alice.story).containsExactly("elected", "LOST");
        assertThat(campaign.state()).isEqualTo(State.PAUSED);

        world.advance(Duration.ofMillis(130));
        assertThat(alice.story).containsExactly("elected", "LOST", "elected");
        assertThat(alice.terms.get(1).term()).isGreaterThan(alice.terms.get(0).term());
        assertThat(alice.terms.get(0).isLeader()).isFalse();
        assertThat(alice.terms.get(1).isLeader()).isTrue();
    }

    @Test
    @Tag("E5")
    @DisplayName("E5: the error of a candidate ends its term, is told, and is survived; pauses grow, up to the longest")
    void errors() {
        List<RuntimeException> thrown = new ArrayList<>();
        Recorder alice = new Recorder() {
            @Override
            void lead(Leadership leadership) {
                RuntimeException error = new IllegalStateException("no " + thrown.size());
                thrown.add(error);
                throw error;
            }
        };
        Campaign campaign = campaign(
                atAlice, still.withLongestPause(Duration.ofSeconds(8)).withShortestPause(Duration.ofSeconds(1)), alice);
        List<Long> pauses = new ArrayList<>();
        long since = world.time().monotonicNanos();
        for (int i = 1; i <= 10; i++) {
            int before = i;
            while (thrown.size() == before) {
                assertThat(campaign.state()).isEqualTo(State.PAUSED);
                world.advance(Duration.ofMillis(50));
            }
            pauses.add(TimeUnit.NANOSECONDS.toMillis(world.time().monotonicNanos() - since));
            since = world.time().monotonicNanos();
        }
        assertThat(pauses.get(0)).isBetween(700L, 1300L);
        assertThat(pauses.get(1)).isBetween(1450L, 2600L);
        assertThat(pauses.get(2)).isBetween(2950L, 5100L);
        assertThat(pauses.subList(3, 10)).allSatisfy(pause -> assertThat(pause).isBetween(5950L, 10100L));
        assertThat(Collections.max(pauses.subList(3, 10))).isNotEqualTo(Collections.min(pauses.subList(3, 10)));
        assertThat(alice.errors).containsExactlyElementsOf(thrown);
        assertThat(alice.story.subList(0, 4)).containsExactly("elected", "FAILED", "elected", "FAILED");
        assertThat(campaign.lastError()).contains(thrown.get(10));
    }

    @Test
    @Tag("E5")
    @DisplayName("E5: candidates that throw whatever they are told go on")
    void throwsEverywhere() {
        AtomicReference<Integer> terms = new AtomicReference<>(0);
        Campaign campaign = campaign(atAlice, new Candidate() {
            @Override
            public void onElected(Leadership leadership) {
                terms.set(terms.get() + 1);
                throw new StackOverflowError("for a test");
            }

            @Override
            public void onTermEnd(Leadership leadership, TermEnd end) {
                throw new IllegalStateException("for a test");
            }

            @Override
            public void onError(Throwable failure) {
                throw new IllegalArgumentException("for a test");
            }
        });
        for (int second = 0; second < 60; second++) {
            world.advance(Duration.ofSeconds(1));
        }
        assertThat(terms.get()).isGreaterThan(5);
        assertThat(campaign.state()).isNotEqualTo(State.ENDED);
    }

    @Test
    @Tag("E5")
    @DisplayName("E5: what a candidate throws when its term is over is the last error of its campaign")
    void throwsAtTheEnd() {
        IllegalStateException thrown = new IllegalStateException("for a test");
        Campaign campaign = campaign(atAlice, new Candidate() {
            @Override
            public void onElected(Leadership leadership) {}

            @Override
            public void onTermEnd(Leadership leadership, TermEnd end) {
                throw thrown;
            }
        });
        world.advance(Duration.ofSeconds(1));

        assertThat(campaign.resign()).isTrue();
        world.advance(Duration.ofSeconds(1));

        assertThat(campaign.lastError()).containsSame(thrown);
    }

    @Test
    @Tag("E5")
    @DisplayName("E5: a store that does not answer is told, and asked again until it does")
    void storeTrouble() {
        Recorder alice = new Recorder();
        aliceLink.fail(Command.Acquire.class, StoreException.Reason.UNAVAILABLE, StoreException.Effect.NONE);
        aliceLink.fail(Command.KeepAlive.class, StoreException.Reason.UNAVAILABLE, StoreException.Effect.NONE);
        Campaign campaign = campaign(atAlice, alice);
        world.advance(Duration.ofMinutes(2));
        assertThat(alice.errors).isNotEmpty().allMatch(StoreUnavailableException.class::isInstance);
        assertThat(alice.story).isEmpty();
        assertThat(campaign.lastError().orElseThrow()).isInstanceOf(StoreUnavailableException.class);

        aliceLink.mend();
        world.advance(Duration.ofSeconds(30));
        assertThat(alice.story).containsExactly("elected");
        assertThat(campaign.state()).isEqualTo(State.LEADING);
    }

    @Test
    @Tag("E5")
    @DisplayName("E5: a name that is in use as something else is told, and asked for until it is not")
    void mismatch() throws InterruptedException {
        Recorder alice = new Recorder();
        try (Hold hold = atBob.lock("scheduler").acquire()) {
            Campaign campaign = campaign(atAlice, alice);
            world.advance(Duration.ofSeconds(5));
            assertThat(alice.errors).isNotEmpty().allMatch(LockMismatchException.class::isInstance);
            assertThat(campaign.state()).isEqualTo(State.PAUSED);
            assertThat(hold.isHeld()).isTrue();
        }
        world.advance(Duration.ofSeconds(15));
        assertThat(alice.story).containsExactly("elected");
        assertThatThrownBy(() -> atAlice.lock("scheduler").acquire()).isInstanceOf(LockMismatchException.class);
    }

    @Test
    @Tag("E5")
    @DisplayName("E5: an executor that refuses tasks keeps no candidate from leading")
    void refusingExecutor() {
        Executor refuses = task -> {
            throw new RejectedExecutionException("for a test");
        };
        Recorder alice = new Recorder();
        Campaign campaign = campaign(atAlice, CampaignOptions.defaults().withExecutor(refuses), alice);
        Eventually.holds("alice leads", () -> !alice.terms.isEmpty());
        campaign.close();
        assertThat(alice.story).containsExactly("elected", "CLOSED");
    }

    // ---- Giving up and leaving

    @Test
    @Tag("E7")
    @DisplayName("E7: a candidate that blocks stops neither renewals nor the callbacks of others")
    void blocks() throws Exception {
        CyclicBarrier barrier = new CyclicBarrier(2);
        Campaign campaign = campaign(atAlice, CampaignOptions.defaults(), leadership -> {
            barrier.await();
            new CountDownLatch(1).await();
        });
        barrier.await(60, TimeUnit.SECONDS);
        List<Loss> told = Collections.synchronizedList(new ArrayList<>());
        try (Hold other = atAlice.lock("other").acquire()) {
            other.onLost(told::add);
            world.advance(TTL.multipliedBy(4));
            assertThat(campaign.leadership().orElseThrow().isLeader()).isTrue();
            assertThat(other.isHeld()).isTrue();
            world.releaseByForce("other");
            world.time().settle();
            assertThat(told).hasSize(1);
            assertThatThrownBy(other::close).isInstanceOf(LockLostException.class);
        } catch (LockLostException e) {
            // Closed a second time: reported once more.
        }
    }
}
