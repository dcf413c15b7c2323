package dev.holdfast.verification.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.ClientClosedException;
import dev.holdfast.Holdfast;
import dev.holdfast.LockLostException;
import dev.holdfast.Loss;
import dev.holdfast.election.Campaign;
import dev.holdfast.election.Campaign.State;
import dev.holdfast.election.CampaignOptions;
import dev.holdfast.election.LeaderElection;
import dev.holdfast.election.LeaderView;
import dev.holdfast.election.Leadership;
import dev.holdfast.election.TermEnd;
import dev.holdfast.election.TermEnd.Reason;
import dev.holdfast.spi.Command;
import dev.holdfast.verification.world.Eventually;
import dev.holdfast.verification.world.FaultyLink;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@DisplayName("An election")
class ElectionTest extends ElectionFixture {

    @Test
    @Tag("E1")
    @DisplayName("E1: has one leader, the first that came; its term is the fencing token of its grant")
    void oneLeader() {
        Recorder alice = new Recorder();
        Recorder bob = new Recorder();
        Campaign first = campaign(atAlice, alice);
        Campaign second = campaign(atBob, bob);

        assertThat(first.state()).isEqualTo(State.LEADING);
        assertThat(second.state()).isEqualTo(State.WAITING);
        assertThat(first.leadership()).contains(alice.term());
        assertThat(second.leadership()).isEmpty();
        assertThat(alice.term().isLeader()).isTrue();
        assertThat(alice.term().name()).isEqualTo("scheduler");
        assertThat(alice.term().remaining()).isPositive();
        alice.term().ensureLeader();
        assertThat(world.holderOf("scheduler")).contains("alice");
        assertThat(world.recordOf("scheduler")
                        .orElseThrow()
                        .holders()
                        .get(0)
                        .tokens()
                        .orElseThrow()
                        .first())
                .isEqualTo(alice.term().term());
        assertThat(bob.story).isEmpty();
    }

    @Test
    @Tag("E1")
    @DisplayName("E1: gives every term a greater number than all before, whoever leads")
    void termsRise() {
        Recorder alice = new Recorder();
        Recorder bob = new Recorder();
        Campaign first = campaign(atAlice, alice);
        Campaign second = campaign(atBob, bob);
        long newest = 0;
        for (int i = 0; i < 20; i++) {
            boolean isFirst = first.state() == State.LEADING;
            Leadership term = (isFirst ? alice : bob).term();
            assertThat(term.term()).isGreaterThan(newest);
            newest = term.term();
            assertThat((isFirst ? first : second).resign()).isTrue();
            world.advance(Duration.ofMinutes(1));
        }
        assertThat(alice.terms.size()).isEqualTo(11);
        assertThat(bob.terms.size()).isEqualTo(10);
    }

    @Test
    @Tag("E2")
    @DisplayName(
            "E2: tells each term's beginning and end once, in turn, one call at a time, also under many resignations")
    void exactlyOnceInOrder() {
        List<Recorder> candidates = new ArrayList<>();
        List<Campaign> campaigns = new ArrayList<>();
        for (Holdfast client : List.of(atAlice, atAlice, atBob)) {
            Recorder candidate = new Recorder();
            candidates.add(candidate);
            campaigns.add(client.election("scheduler").campaign(candidate));
        }
        for (int i = 0; i < 100; i++) {
            Eventually.holds("somebody leads", () -> {
                world.advance(Duration.ofSeconds(1));
                return campaigns.stream().anyMatch(campaign -> campaign.resign());
            });
        }
        // A term that is resigned before its candidate's thread comes to it is skipped: each is to have one that is
        // not.
        for (int i = 0; i < campaigns.size(); i++) {
            Recorder candidate = candidates.get(i);
            Campaign own = campaigns.get(i);
            Eventually.holds("it leads once", () -> {
                world.advance(Duration.ofSeconds(1));
                campaigns.stream().filter(other -> other != own).forEach(Campaign::resign);
                return !candidate.terms.isEmpty();
            });
        }
        campaigns.forEach(Campaign::close);

        List<Long> terms = new ArrayList<>();
        for (Recorder candidate : candidates) {
            assertThat(candidate.terms).isNotEmpty();
            for (int i = 0; i < candidate.story.size(); i++) {
                assertThat(candidate.story.get(i))
                        .isIn(i % 2 == 0 ? List.of("elected") : List.of("RESIGNED", "CLOSED"));
            }
            assertThat(candidate.story.size()).isEqualTo(2 * candidate.terms.size());
            assertThat(candidate.terms).extracting(Leadership::term).isSorted();
            candidate.terms.forEach(term -> terms.add(term.term()));
        }
        assertThat(terms).doesNotHaveDuplicates();
    }

    @Test
    @Tag("E3")
    @DisplayName(
            "E3: tells the leader before the store can elect another: it leads no more, and its thread is interrupted")
    void lostBeforeAnotherIsElected() throws Exception {
        CountDownLatch hasBegun = new CountDownLatch(1);
        AtomicBoolean wasInterrupted = new AtomicBoolean();
        List<TermEnd> ends = Collections.synchronizedList(new ArrayList<>());
        List<Loss> losses = Collections.synchronizedList(new ArrayList<>());
        Recorder alice = new Recorder() {
            @Override
            void lead(Leadership leadership) {
                leadership.onEnd(ends::add).onLost(losses::add);
                hasBegun.countDown();
                try {
                    new CountDownLatch(1).await();
                } catch (InterruptedException e) {
                    wasInterrupted.set(true);
                }
            }
        };
        Recorder bob = new Recorder();
        campaign(atAlice, CampaignOptions.defaults(), alice);
        assertThat(hasBegun.await(60, TimeUnit.SECONDS)).isTrue();
        campaign(atBob, bob);

        aliceLink.cut();
        for (int second = 0; second < 60 && bob.terms.isEmpty(); second++) {
            boolean led = alice.term().isLeader();
            world.advance(Duration.ofSeconds(1));
            assertThat(bob.terms.isEmpty() || !led)
                    .as("alice led until a second before bob did")
                    .isTrue();
        }
        assertThat(bob.terms).hasSize(1);
        Eventually.holds("alice is told", () -> alice.story.contains("LOST"));
        assertThat(wasInterrupted).isTrue();
        assertThat(alice.term().isLeader()).isFalse();
        assertThat(alice.term().remaining()).isZero();
        assertThatThrownBy(alice.term()::ensureLeader).isInstanceOf(LockLostException.class);
        assertThat(losses).extracting(Loss::cause).containsExactly(Loss.Cause.EXPIRED);
        assertThat(ends).containsExactly(TermEnd.lost(losses.get(0)));
        assertThat(alice.errors).isEmpty();
    }

    @Test
    @Tag("E3")
    @DisplayName("E3: a machine that slept longer than the lease finds at its first look that it does not lead")
    void slept() {
        Recorder alice = new Recorder();
        campaign(atAlice, alice);
        world.time().suspend(TTL);
        assertThat(alice.term().isLeader()).isFalse();
        world.advance(Duration.ZERO);
        world.time().settle();
        assertThat(alice.story).startsWith("elected", "LOST");
    }

    @Test
    @Tag("E3")
    @DisplayName("E3: after a step of the wall clock the term is in doubt until the store was asked")
    void doubt() {
        Recorder alice = new Recorder();
        campaign(atAlice, alice);
        world.time().stepWall(Duration.ofSeconds(10));
        assertThat(alice.term().isLeader()).isFalse();
        alice.term().ensureLeader();
        assertThat(alice.term().isLeader()).isTrue();
        assertThat(alice.story).containsExactly("elected");
    }

    @Test
    @Tag("E4")
    @DisplayName(
            "E4: who gives up keeps the place at the store until its candidate is done, so that leaders never overlap")
    void keptUntilDone() throws Exception {
        CountDownLatch maySettle = new CountDownLatch(1);
        CountDownLatch isSettling = new CountDownLatch(1);
        Recorder alice = new Recorder() {
            @Override
            void lead(Leadership leadership) throws Exception {
                leadership.awaitEnd();
                isSettling.countDown();
                maySettle.await();
            }
        };
        Recorder bob = new Recorder();
        Campaign first = campaign(atAlice, CampaignOptions.defaults(), alice);
        campaign(atBob, bob);
        Eventually.holds("alice leads", () -> !alice.terms.isEmpty());

        assertThat(first.resign()).isTrue();

        assertThat(isSettling.await(60, TimeUnit.SECONDS)).isTrue();
        assertThat(first.state()).isEqualTo(State.STEPPING_DOWN);
        assertThat(alice.term().isLeader()).isFalse();
        assertThatThrownBy(alice.term()::ensureLeader)
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("RESIGNED");
        world.advance(TTL.multipliedBy(3));
        assertThat(world.holderOf("scheduler")).contains("alice");
        assertThat(bob.terms).isEmpty();

        maySettle.countDown();
        Eventually.holds("bob leads", () -> {
            world.time().settle();
            return !bob.terms.isEmpty();
        });
        assertThat(alice.story).containsExactly("elected", "RESIGNED");
    }

    @Test
    @Tag("E4")
    @DisplayName("E4: who waits for the end of its term returns from that in peace, whatever the interrupt hits")
    void awaitsInPeace() {
        List<Throwable> torn = Collections.synchronizedList(new ArrayList<>());
        List<TermEnd> ends = Collections.synchronizedList(new ArrayList<>());
        Campaign campaign = campaign(
                atAlice,
                CampaignOptions.defaults()
                        .withLongestPause(Duration.ofSeconds(1))
                        .withShortestPause(Duration.ofNanos(1)),
                leadership -> {
                    try {
                        ends.add(leadership.awaitEnd());
                    } catch (InterruptedException e) {
                        torn.add(e);
                    }
                    if (Thread.interrupted()) {
                        torn.add(new IllegalStateException("the interrupt is pending"));
                    }
                });
        for (int i = 1; i <= 1_000; i++) {
            int ended = i;
            Eventually.holds("it leads, and resigns", () -> {
                world.advance(Duration.ofMillis(1));
                return campaign.resign();
            });
            Eventually.holds(
                    "it is done", () -> ends.size() + torn.size() >= ended || campaign.state() != State.STEPPING_DOWN);
        }
        campaign.close();
        assertThat(torn).isEmpty();
        assertThat(ends).isNotEmpty();
    }

    // ---- Giving up and leaving

    @Test
    @Tag("E6")
    @DisplayName("E6: who resigns goes behind all who wait; who resigns to leave stands no more")
    void resigns() {
        List<Loss> losses = Collections.synchronizedList(new ArrayList<>());
        List<TermEnd> ends = Collections.synchronizedList(new ArrayList<>());
        Recorder alice = new Recorder();
        Recorder bob = new Recorder();
        Campaign first = campaign(atAlice, alice);
        Campaign second = campaign(atBob, bob);

        world.advance(Duration.ofSeconds(1));
        alice.term().onEnd(ends::add).onLost(losses::add);
        assertThat(alice.term().resign()).isTrue();
        assertThat(alice.term().resign()).isFalse();
        world.time().settle();
        assertThat(ends).extracting(TermEnd::reason).containsExactly(Reason.RESIGNED);
        assertThat(losses).as("what its owner asked for is no loss").isEmpty();
        assertThat(first.state()).isEqualTo(State.WAITING);
        assertThat(first.resign()).isFalse();
        assertThat(bob.term().isLeader()).isTrue();
        bob.term().resign();
        world.time().settle();
        assertThat(second.state()).as("its term was short").isEqualTo(State.PAUSED);
        assertThat(alice.terms).hasSize(2);

        assertThat(alice.term().resignAndLeave()).isTrue();
        world.advance(Duration.ofSeconds(1));
        assertThat(first.state()).isEqualTo(State.ENDED);
        assertThat(first.ended().toCompletableFuture()).isCompleted();
        assertThat(alice.story).containsExactly("elected", "RESIGNED", "elected", "RESIGNED");
        assertThat(bob.terms).hasSize(2);
        assertThat(world.waitersOf("scheduler")).isZero();
    }

    @Test
    @Tag("E6")
    @DisplayName("E6: a campaign that is closed while it waits never leads, not even if it is granted at that moment")
    void closedWhileWaiting() {
        Recorder alice = new Recorder();
        Recorder bob = new Recorder();
        Campaign first = campaign(atAlice, alice);
        Campaign second = campaign(atBob, bob);
        second.close();
        assertThat(second.state()).isEqualTo(State.ENDED);
        assertThat(world.waitersOf("scheduler")).isZero();
        first.close();
        world.advance(TTL);
        assertThat(bob.story).isEmpty();
        world.awaitIdle();

        FaultyLink.HeldUp claim = bobLink.holdUpNext(Command.Acquire.class);
        Campaign third = campaign(atBob, bob);
        claim.awaitCommand();
        third.close();
        claim.proceed();
        world.advance(Duration.ofSeconds(1));
        assertThat(bob.story).isEmpty();
        world.awaitIdle();
    }

    @Test
    @Tag("E6")
    @DisplayName(
            "E6: a campaign that is closed while it leads gives the place up when its candidate is done, and tells it")
    void closedWhileLeading() {
        Recorder alice = new Recorder();
        Campaign first = campaign(atAlice, CampaignOptions.defaults(), alice);
        Eventually.holds("alice leads", () -> !alice.terms.isEmpty());
        first.close();
        assertThat(alice.story).containsExactly("elected", "CLOSED");
        assertThat(first.state()).isEqualTo(State.ENDED);
        world.awaitIdle();
        first.close();
        world.advance(TTL);
        assertThat(alice.terms).hasSize(1);
    }

    @Test
    @Tag("E6")
    @DisplayName("E6: a candidate may close its campaign itself, from any of its calls")
    void closedByTheCandidate() {
        AtomicReference<Campaign> own = new AtomicReference<>();
        CountDownLatch isKnown = new CountDownLatch(1);
        Recorder alice = new Recorder() {
            @Override
            void lead(Leadership leadership) throws Exception {
                isKnown.await();
                own.get().close();
                assertThat(leadership.isLeader()).isFalse();
                assertThat(Thread.currentThread().isInterrupted()).isTrue();
            }
        };
        own.set(campaign(atAlice, CampaignOptions.defaults(), alice));
        isKnown.countDown();
        Eventually.holds("it has ended", () -> own.get().state() == State.ENDED);
        assertThat(alice.story).containsExactly("elected", "CLOSED");
        assertThat(alice.errors).isEmpty();
    }

    @Test
    @Tag("E6")
    @DisplayName("E6: closing in a pause ends the campaign at once")
    void closedInAPause() {
        Recorder alice = new Recorder();
        Campaign campaign = campaign(atAlice, alice);
        world.releaseByForce("scheduler");
        world.time().settle();
        assertThat(campaign.state()).isEqualTo(State.PAUSED);
        campaign.close();
        assertThat(campaign.state()).isEqualTo(State.ENDED);
        world.advance(Duration.ofMinutes(1));
        assertThat(alice.terms).hasSize(1);
        world.awaitIdle();
    }

    // ---- The client

    @Test
    @Tag("E9")
    @DisplayName(
            "E9: closing the client ends its campaigns, leading, waiting and pausing, and its observations, and tells it")
    void clientClosed() {
        Recorder leads = new Recorder();
        Recorder waits = new Recorder();
        Recorder pauses = new Recorder() {
            @Override
            void lead(Leadership leadership) {
                throw new IllegalStateException("for a test");
            }
        };
        List<LeaderView> seen = Collections.synchronizedList(new ArrayList<>());
        Campaign leading = campaign(atAlice, leads);
        Campaign waiting = campaign(atAlice, waits);
        Campaign pausing = atAlice.election("other").campaign(still, pauses);
        LeaderElection election = atAlice.election("scheduler");
        election.observe(seen::add);
        world.time().settle();
        assertThat(pausing.state()).isEqualTo(State.PAUSED);

        atAlice.close();
        world.time().settle();

        for (Campaign campaign : List.of(leading, waiting, pausing)) {
            Eventually.holds("the campaign has ended", () -> campaign.state() == State.ENDED);
            world.time().settle();
            assertThat(campaign.ended().toCompletableFuture()).isCompleted();
            assertThat(campaign.lastError().orElseThrow()).isInstanceOf(ClientClosedException.class);
        }
        assertThat(leads.story).containsExactly("elected", "LOST");
        assertThat(leads.errors).singleElement().isInstanceOf(ClientClosedException.class);
        assertThat(waits.story).isEmpty();
        assertThat(waits.errors).singleElement().isInstanceOf(ClientClosedException.class);
        assertThat(pauses.errors).last().isInstanceOf(ClientClosedException.class);
        int before = seen.size();
        campaign(atBob, new Recorder());
        lives(Duration.ofMinutes(1));
        assertThat(seen).hasSize(before);

        assertThatThrownBy(() -> election.campaign(leadership -> {})).isInstanceOf(ClientClosedException.class);
        assertThatThrownBy(() -> election.observe(view -> {})).isInstanceOf(ClientClosedException.class);
        assertThatThrownBy(() -> election.leader().toCompletableFuture().get(60, TimeUnit.SECONDS))
                .hasCauseInstanceOf(ClientClosedException.class);
        assertThatThrownBy(() -> atAlice.election("scheduler")).isInstanceOf(ClientClosedException.class);
    }

    @Test
    @Tag("E10")
    @DisplayName("E10: two campaigns of one client are two candidates, and each of their terms is a grant of its own")
    void twoOfOneClient() {
        Recorder one = new Recorder();
        Recorder two = new Recorder();
        List<LeaderView> seen = Collections.synchronizedList(new ArrayList<>());
        Campaign first = campaign(atAlice, one);
        campaign(atAlice, two);
        atBob.election("scheduler").observe(seen::add);
        lives(Duration.ofSeconds(1));
        assertThat(one.terms).hasSize(1);
        assertThat(two.terms).isEmpty();

        first.resign();
        lives(Duration.ofSeconds(3));
        assertThat(two.terms).hasSize(1);
        assertThat(two.term().term()).isGreaterThan(one.term().term());
        assertThat(one.term().isLeader()).isFalse();
        assertThat(first.state()).isEqualTo(State.WAITING);
        assertThat(seen.stream().filter(view -> view.leader().isPresent()))
                .containsExactly(
                        new LeaderView(one.term().term(), Optional.of("alice")),
                        new LeaderView(two.term().term(), Optional.of("alice")));
    }

    // ---- Input

    @Test
    @DisplayName("refuses names and pauses that make no sense, before anything is done")
    void badInput() {
        aliceLink.forget();
        assertThatThrownBy(() -> atAlice.election("")).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> atAlice.election(" ")).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> atAlice.election("x".repeat(513))).isInstanceOf(IllegalArgumentException.class);
        CampaignOptions options = CampaignOptions.defaults();
        assertThatThrownBy(() -> options.withShortestPause(Duration.ZERO)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> options.withLongestPause(Duration.ofSeconds(-1)))
                .isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(
                        () -> options.withLongestPause(Duration.ofSeconds(1)).withShortestPause(Duration.ofSeconds(2)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("2 s")
                .hasMessageContaining("1 s");
        assertThat(aliceLink.sent()).isEmpty();
    }
}
