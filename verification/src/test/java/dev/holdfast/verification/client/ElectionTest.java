package dev.holdfast.verification.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.Campaign;
import dev.holdfast.Campaign.State;
import dev.holdfast.CampaignOptions;
import dev.holdfast.Candidate;
import dev.holdfast.ClientClosedException;
import dev.holdfast.Hold;
import dev.holdfast.Holdfast;
import dev.holdfast.LeaderElection;
import dev.holdfast.LeaderView;
import dev.holdfast.Leadership;
import dev.holdfast.LockLostException;
import dev.holdfast.LockMismatchException;
import dev.holdfast.Loss;
import dev.holdfast.StoreUnavailableException;
import dev.holdfast.TermEnd;
import dev.holdfast.TermEnd.Reason;
import dev.holdfast.spi.Command;
import dev.holdfast.spi.StoreException;
import dev.holdfast.verification.world.Eventually;
import dev.holdfast.verification.world.FaultyLink;
import dev.holdfast.verification.world.World;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@DisplayName("An election")
class ElectionTest {

    private static final Duration TTL = Duration.ofSeconds(30);

    private final World world = World.still();
    private final FaultyLink aliceLink = world.link();
    private final FaultyLink bobLink = world.link();
    private final Holdfast atAlice = world.client("alice", aliceLink);
    private final Holdfast atBob = world.client("bob", bobLink);
    private final CampaignOptions still =
            CampaignOptions.defaults().withExecutor(world.time().callbacks());

    @AfterEach
    void close() {
        world.close();
    }

    /** Notes what happens to it, and whether one of its calls comes while another is under way. */
    private static class Recorder implements Candidate {
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

    private Campaign campaign(Holdfast client, Candidate candidate) {
        return campaign(client, still, candidate);
    }

    private Campaign campaign(Holdfast client, CampaignOptions options, Candidate candidate) {
        Campaign campaign = client.election("scheduler").campaign(options, candidate);
        world.time().settle();
        return campaign;
    }

    /** Lets time pass in small steps, so that what callbacks set off happens in its time. */
    private void lives(Duration time) {
        for (long millis = 0; millis < time.toMillis(); millis += 50) {
            world.advance(Duration.ofMillis(50));
        }
    }

    // ---- Leading

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

    // ---- Going on

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
            // Closed a second time: told once more.
        }
    }

    // ---- Observing

    @Test
    @Tag("E8")
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
    @Tag("E8")
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
    @Tag("E8")
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
    @Tag("E8")
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
        // The first look has taken too long, and the next one has seen bob.
        lives(Duration.ofSeconds(10));
        assertThat(seen).last().isEqualTo(new LeaderView(bob.term().term(), Optional.of("bob")));
        int before = seen.size();
        link.answerNext(Command.Inspect.class, stale);
        lives(Duration.ofSeconds(10));
        assertThat(seen).hasSize(before);
        assertThat(seen).extracting(LeaderView::term).isSorted();
    }

    @Test
    @Tag("E8")
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
        assertThatThrownBy(() -> election.leader().toCompletableFuture().get(60, TimeUnit.SECONDS))
                .hasCauseInstanceOf(StoreUnavailableException.class);
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
                .hasMessageContaining("PT2S")
                .hasMessageContaining("PT1S");
        assertThat(aliceLink.sent()).isEmpty();
    }
}
