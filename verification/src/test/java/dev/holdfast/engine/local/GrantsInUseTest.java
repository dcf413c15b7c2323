package dev.holdfast.engine.local;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.OnDeadlock;
import dev.holdfast.engine.SimulatedClient;
import dev.holdfast.engine.client.SafetyRules;
import dev.holdfast.engine.execution.Audience;
import dev.holdfast.engine.execution.DeferredActions;
import dev.holdfast.engine.session.Claim;
import dev.holdfast.engine.session.PassCoverage;
import dev.holdfast.engine.session.Session;
import dev.holdfast.engine.wire.CommandSender;
import dev.holdfast.spi.CallerMode;
import dev.holdfast.spi.Command;
import dev.holdfast.spi.Command.Waiting;
import dev.holdfast.spi.Kind;
import dev.holdfast.spi.Lease;
import dev.holdfast.spi.Order;
import dev.holdfast.spi.Reply;
import dev.holdfast.spi.ResourceName;
import dev.holdfast.spi.ResourceSpec;
import dev.holdfast.spi.SessionId;
import dev.holdfast.spi.StoreException;
import dev.holdfast.spi.TokenBlock;
import dev.holdfast.verification.world.FaultyLink;
import dev.holdfast.verification.world.World;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;

/** What the grants of one resource decide, without the resource: whom they serve, and what they ask the store. */
@DisplayName("The grants of a resource")
class GrantsInUseTest {

    private static final ResourceName NAME = new ResourceName("ledger");
    private static final ResourceSpec READ_WRITE = new ResourceSpec(Kind.READ_WRITE, Integer.MAX_VALUE, Order.FAIR);
    private static final ResourceSpec SEATS = new ResourceSpec(Kind.SEMAPHORE, 10, Order.FAIR);
    private static final Duration BUDGET = Duration.ofMillis(10);
    private static final Duration SLICE = Duration.ofNanos(200_000);
    private static final Duration SHARED_SLICE = Duration.ofMillis(1);

    private static final CommandSender.Answer IGNORED = new CommandSender.Answer() {
        @Override
        public void reply(Reply reply, long sentAt) {}

        @Override
        public void failure(StoreException failure, long sentAt) {}
    };

    @AutoClose
    private final World world = World.still();

    private final FaultyLink link = world.link();
    private final RequestQueue queue = new RequestQueue();
    private final Thread alice = new Thread("alice");
    private final Thread bob = new Thread("bob");
    private Grants grants = of(ResourceSpec.MUTEX, BUDGET);
    private long claims = 1_000;

    /** The grants of a resource of one kind, in a client with this budget for hand-overs. */
    private Grants of(ResourceSpec spec, Duration budget) {
        LocalResources resources = SimulatedClient.start(
                        link,
                        world.time(),
                        Duration.ofSeconds(30),
                        budget,
                        "here",
                        OnDeadlock.REPORT,
                        request -> null,
                        new SafetyRules())
                .toCompletableFuture()
                .join()
                .resources();
        return new Grants(new LocalSynchronizer(
                resources.partition(NAME), new Resource.Registry<>(new Resource.Guards()), NAME, spec));
    }

    private Grant grant(int tokens, @Nullable Request only, @Nullable PassCoverage coverage) {
        long now = grants.resource().now();
        Session session = new Session(
                new SessionId("s"),
                Duration.ofSeconds(30).toNanos(),
                now,
                now + Duration.ofSeconds(20).toNanos(),
                0);
        Claim.Terms terms =
                new Claim.Terms(Lease.SESSION, grants.resource().spec.capacity(), Waiting.QUEUE, coverage, false);
        LocalSynchronizer resource = (LocalSynchronizer) grants.resource();
        Claim claim = new Claim(resource, ++claims, session, terms, now);
        claim.hold();
        Grant grant = new Grant(claim, resource, only);
        claim.attach(grant);
        if (tokens > 0) {
            grant.adopt(new TokenBlock(1, tokens));
        }
        grants.add(grant);
        return grant;
    }

    private Grant grant(int tokens) {
        return grant(tokens, null, null);
    }

    private Request request(Mode mode, @Nullable Thread thread, AcquireTerms terms) {
        return new Request(grants.resource().context(), mode, NAME, thread, null, terms, Audience.USER, null);
    }

    private Request request(@Nullable Thread thread) {
        return request(
                Mode.owned(grants.resource().spec, grants.resource().spec.capacity()), thread, AcquireTerms.FOREVER);
    }

    private Request reader(Thread thread) {
        return request(Mode.owned(READ_WRITE, 1), thread, AcquireTerms.FOREVER);
    }

    private LocalHold enter(Grant grant, Request request) {
        LocalHold hold = new LocalHold((LocalSynchronizer) grants.resource(), grant, request, grant.tokenFor(request));
        grants.enter(grant, hold, request);
        return hold;
    }

    private void serve(Grant grant, Request request) {
        leave(grant, enter(grant, request));
    }

    private void leave(Grant grant, LocalHold hold) {
        DeferredActions deferred = new DeferredActions();
        grants.leave(grant, hold, deferred);
        deferred.send();
    }

    private long now() {
        return grants.resource().now();
    }

    // ---- Whom they serve

    @Test
    @DisplayName("serve the first request, and behind others only one of the thread whose slice it is, if it waits")
    void servingAtOnce() {
        Grant grant = grant(100);
        assertThat(grants.servingAtOnce(request(alice), true)).isSameAs(grant);
        assertThat(grants.servingAtOnce(request(alice), false)).isNull();

        serve(grant, request(alice));
        serve(grant, request(bob));

        assertThat(grants.servingAtOnce(request(bob), false)).isSameAs(grant);
        assertThat(grants.servingAtOnce(request(alice), false)).isNull();
        Request trying = request(Mode.FAIR_MUTEX, bob, AcquireTerms.TRY);
        assertThat(grants.servingAtOnce(trying, false)).isNull();
        assertThat(grants.servingAtOnce(trying, true)).isSameAs(grant);
        world.advance(SLICE);
        assertThat(grants.servingAtOnce(request(bob), false)).isNull();
    }

    @Test
    @DisplayName("serve no request while a hold excludes others, or while a yield has no answer")
    void serveNobody() {
        Grant grant = grant(100);
        LocalHold hold = enter(grant, request(alice));
        assertThat(grants.exclusiveHold()).isSameAs(hold);
        assertThat(grants.servingAtOnce(request(bob), true)).isNull();
        assertThat(grants.hasIdleFor(request(bob))).isFalse();

        leave(grant, hold);
        assertThat(grants.exclusiveHold()).isNull();
        assertThat(grants.hasIdleFor(request(bob))).isTrue();
        assertThat(grants.servingAtOnce(request(bob), true)).isSameAs(grant);

        grant.claim.beginYield();
        assertThat(grants.servingAtOnce(request(bob), true)).isNull();
        assertThat(grants.hasIdleFor(request(bob))).isFalse();
    }

    @Test
    @DisplayName("for one request serve no other, and none with its own lease")
    void bound() {
        Request only = request(alice);
        Grant bound = grant(100, only, null);
        assertThat(bound.isBound()).isTrue();
        assertThat(bound.mayServeOthers()).isFalse();
        assertThat(grants.hasIdleFor(only)).isTrue();
        assertThat(grants.hasIdleFor(request(bob))).isFalse();
        assertThat(bound.mustYieldFor(request(bob))).isTrue();

        assertThat(grants.end(bound)).isTrue();
        assertThat(grants.end(bound)).isFalse();
        Grant open = grant(100);
        assertThat(open.mayServeOthers()).isTrue();
        Lease own = Lease.bounded(Duration.ofMinutes(1));
        assertThat(grants.hasIdleFor(request(Mode.FAIR_MUTEX, bob, AcquireTerms.attempt(own))))
                .isFalse();
        open.noteNamed();
        assertThat(open.mayServeOthers()).isFalse();
    }

    @Test
    @DisplayName("are found by their claims, and copied in the order in which they are looked at")
    void list() {
        grants = of(SEATS, BUDGET);
        Grant first = grant(1);
        Grant second = grant(1);
        Grant third = grant(1);
        assertThat(grants.isEmpty()).isFalse();
        assertThat(grants.all()).containsExactly(third, second, first);
        assertThat(grants.find(second.ref())).isSameAs(second);
        assertThat(grants.remove(second)).isTrue();
        assertThat(grants.has(second)).isFalse();
        assertThat(grants.find(second.ref())).isNull();
        assertThat(grants.all()).containsExactly(third, first);

        LocalHold hold = enter(third, request(null));
        assertThat(grants.exclusiveHold()).isNull();
        assertThat(grants.all()).containsExactly(first, third);
        assertThat(grants.holdCount()).isEqualTo(1);
        enter(first, request(null));
        assertThat(grants.all()).containsExactly(third, first);
        assertThat(grants.firstCandidate()).isNull();
        leave(first, first.soleHold());
        assertThat(grants.all()).containsExactly(first, third);
        assertThat(grants.firstCandidate()).isSameAs(first);
        grants.remove(third);
        leave(third, hold);
        assertThat(grants.all()).containsExactly(first);
        assertThat(grants.remove(first)).isTrue();
        assertThat(grants.isEmpty()).isTrue();
    }

    @Test
    @DisplayName("suit requests for the same weight, or readers if they are shared")
    void suits() {
        grants = of(SEATS, BUDGET);
        Grant seats = grant(1);
        assertThat(seats.suits(request(Mode.unowned(SEATS, 10), null, AcquireTerms.FOREVER)))
                .isTrue();
        assertThat(seats.suits(request(Mode.unowned(SEATS, 9), null, AcquireTerms.FOREVER)))
                .isFalse();

        grants = of(READ_WRITE, BUDGET);
        Grant shared = grant(1);
        shared.claim.shrinkTo(1);
        assertThat(shared.suits(reader(alice))).isTrue();
        assertThat(shared.suits(request(alice))).isFalse();
    }

    @Test
    @DisplayName("give readers one token, and know whether several shared them")
    void readersShareAToken() {
        grants = of(READ_WRITE, BUDGET);
        Grant grant = grant(100);
        LocalHold first = enter(grant, reader(alice));
        assertThat(grant.wasShared()).isFalse();
        assertThat(grant.needsTokenFor(reader(bob))).isFalse();
        assertThat(grant.needsTokenFor(request(bob))).isTrue();
        LocalHold second = enter(grant, reader(bob));

        assertThat(second.rawToken()).isEqualTo(first.rawToken()).isEqualTo(1);
        assertThat(grant.wasShared()).isTrue();
        assertThat(grants.holdCount()).isEqualTo(2);
        assertThat(grant.holds()).containsExactly(first, second);
        leave(grant, first);
        assertThat(grant.holds()).containsExactly(second);
        leave(grant, second);
        assertThat(grant.isIdle()).isTrue();
        assertThat(grant.wasShared()).isTrue();

        LocalHold writer = enter(grant, request(alice));
        assertThat(grant.holds()).containsExactly(writer);
        assertThat(grants.holdCount()).isEqualTo(1);
        assertThat(grants.sharedHoldOf(alice)).isSameAs(writer);
        assertThat(grants.sharedHoldOf(bob)).isNull();
    }

    @Test
    @DisplayName("go back to the store when their tokens are spent and there are no more, or none in time")
    void spentTokens() {
        Grant grant = grant(2);
        CohortState cohort = new CohortState(true);
        grant.begin(cohort);
        cohort.begin(now() + BUDGET.toNanos());
        serve(grant, request(alice));
        assertThat(grant.wasHandedOver()).isFalse();
        serve(grant, request(alice));
        assertThat(grant.wasHandedOver()).isTrue();
        assertThat(grant.mustYieldFor(request(bob))).isFalse();

        FaultyLink.HeldUp slow = link.holdUpNext(Command.Poll.class);
        CommandSender wire = grants.resource().partition.wire;
        wire.send(new Command.Poll(List.of(grant.ref())), CallerMode.ASYNC, IGNORED);
        world.advance(Duration.ofMillis(2));
        slow.answer(new Reply.Polled(List.of(new Reply.Absent())));
        long trip = wire.averageRoundTrip();
        assertThat(trip).isPositive();
        assertThat(grant.questionLeadNanos()).isEqualTo(Math.min(BUDGET.toNanos() / 2, 3 * trip));
        long left = BUDGET.toNanos() - Duration.ofMillis(2).toNanos();
        world.advance(Duration.ofNanos(left - 2 * trip - 1));
        assertThat(grant.isAdvanceInTime()).isTrue();
        assertThat(grant.mustYieldFor(request(bob))).isFalse();
        world.advance(Duration.ofNanos(1));
        assertThat(grant.isAdvanceInTime()).isFalse();
        assertThat(grant.mustYieldFor(request(bob))).isTrue();

        Grant last = grant(1);
        last.begin(new CohortState(false));
        serve(last, request(alice));
        assertThat(last.mustYieldFor(request(bob))).isFalse();
        last.replenish(null);
        assertThat(last.mustYieldFor(request(bob))).isTrue();
        last.adopt(new TokenBlock(10, 10));
        assertThat(last.mustYieldFor(request(bob))).isFalse();
    }

    @Test
    @DisplayName("begin their budget with the first release, or with a cohort that begins later")
    void budgetBegins() {
        Grant grant = grant(100);
        LocalHold hold = enter(grant, request(alice));
        CohortState cohort = grant.cohortFrom(now());
        assertThat(cohort.hasBegun()).isFalse();
        world.advance(BUDGET);
        leave(grant, hold);
        assertThat(cohort.hasBegun()).isTrue();
        cohort.got(1, true);
        assertThat(cohort.endsWithin(BUDGET.toNanos() - 1, now())).isFalse();
        assertThat(cohort.endsWithin(BUDGET.toNanos(), now())).isTrue();

        assertThat(grant(100).cohortFrom(now()).hasBegun()).isTrue();
        Grant second = grant(100);
        serve(second, request(alice));
        enter(second, request(alice));
        assertThat(second.cohortFrom(now()).hasBegun()).isTrue();
    }

    // ---- Slices

    @Nested
    @DisplayName("hand over")
    class Slices {

        @Test
        @DisplayName("with the next release once all are in use and no slice is left")
        void nextRelease() {
            assertThat(grants.isNextReleaseHandedOver(now())).isFalse();
            Grant grant = grant(100);
            serve(grant, request(alice));
            assertThat(grants.isNextReleaseHandedOver(now())).isFalse();
            enter(grant, request(bob));
            long end = now() + SLICE.toNanos();

            assertThat(grants.isNextReleaseHandedOver(end - 1)).isFalse();
            assertThat(grants.isNextReleaseHandedOver(end)).isTrue();
        }

        @Test
        @DisplayName("with the last of several slices, and know whose a slice is")
        void severalSlices() {
            grants = of(SEATS, BUDGET);
            Grant one = grant(100);
            Grant other = grant(100);
            serve(one, request(alice));
            serve(one, request(alice));
            serve(other, request(bob));
            world.advance(SLICE.dividedBy(2));
            enter(other, request(bob));
            assertThat(other.isSliceOfOthers(alice)).isTrue();
            assertThat(other.isSliceOfOthers(bob)).isFalse();
            long end = now() + SLICE.toNanos();
            enter(one, request(alice));
            assertThat(grants.isNextReleaseHandedOver(end - 1)).isFalse();
            assertThat(grants.isNextReleaseHandedOver(end)).isTrue();
            world.advance(SLICE);
            assertThat(other.isSliceOfOthers(alice)).isFalse();
        }

        @Test
        @DisplayName("after a slice that is no longer than the budget")
        void shortBudget() {
            grants = of(ResourceSpec.MUTEX, SLICE.dividedBy(2));
            Grant grant = grant(100);
            serve(grant, request(alice));
            enter(grant, request(bob));

            assertThat(grants.isNextReleaseHandedOver(now() + SLICE.toNanos() / 2 - 1))
                    .isFalse();
            assertThat(grants.isNextReleaseHandedOver(now() + SLICE.toNanos() / 2))
                    .isTrue();
        }

        @Test
        @DisplayName("an idle grant to the head of the queue after its slice, or unused between two checks")
        void idle() {
            assertThat(grants.checkIdle(now())).isFalse();
            Grant grant = grant(100);
            serve(grant, request(alice));
            serve(grant, request(bob));
            grant.beginWatch();
            assertThat(grants.checkIdle(now())).isFalse();
            serve(grant, request(bob));
            assertThat(grants.checkIdle(now())).isFalse();
            assertThat(grants.checkIdle(now())).isTrue();
            grant.beginWatch();
            assertThat(grants.checkIdle(now())).isFalse();

            serve(grant, request(alice));
            assertThat(grants.checkIdle(now())).isFalse();
            serve(grant, request(alice));
            assertThat(grants.checkIdle(now() + SLICE.toNanos())).isTrue();
            enter(grant, request(alice));
            assertThat(grants.checkIdle(now() + SLICE.toNanos())).isFalse();
        }

        @Test
        @DisplayName("to readers for a millisecond from the first of them, or from the moment at which a writer waits")
        void readers() {
            grants = of(READ_WRITE, BUDGET);
            Grant grant = grant(100);
            grants.beginSharedSlice();
            assertThat(grant.hasSlice()).isFalse();
            LocalHold first = enter(grant, reader(alice));
            long begin = now();
            world.advance(Duration.ofNanos(500_000));
            enter(grant, reader(bob));
            assertThat(grants.isNextReleaseHandedOver(begin + SHARED_SLICE.toNanos() - 1))
                    .isFalse();
            assertThat(grants.isNextReleaseHandedOver(begin + SHARED_SLICE.toNanos()))
                    .isTrue();
            assertThat(grants.sharedHoldOf(alice)).isSameAs(first);
            assertThat(grants.exclusiveHold()).isNull();

            grants.beginSharedSlice();
            assertThat(grants.isNextReleaseHandedOver(now() + SHARED_SLICE.toNanos() - 1))
                    .isFalse();
            assertThat(grants.isNextReleaseHandedOver(now() + SHARED_SLICE.toNanos()))
                    .isTrue();
        }

        @Test
        @DisplayName("to readers after a writer has become one")
        void downgraded() {
            grants = of(READ_WRITE, BUDGET);
            Grant grant = grant(100);
            LocalHold writer = enter(grant, request(alice));
            assertThat(grants.exclusiveHold()).isSameAs(writer);
            assertThat(grants.servingAtOnce(reader(bob), true)).isNull();

            grants.share(grant, writer);

            assertThat(grants.exclusiveHold()).isNull();
            assertThat(grants.sharedHoldOf(alice)).isSameAs(writer);
            assertThat(grants.servingAtOnce(reader(bob), false)).isSameAs(grant);
            world.advance(SHARED_SLICE);
            assertThat(grants.servingAtOnce(reader(bob), false)).isNull();
            assertThat(grants.servingAtOnce(reader(bob), true)).isSameAs(grant);
        }
    }

    // ---- What they ask the store

    @Nested
    @DisplayName("ask")
    class Asking {

        private void prepare(Grant grant, Request served) {
            DeferredActions deferred = new DeferredActions();
            grants.prepareHandOver(grant, served, queue, deferred);
            deferred.send();
        }

        private int advances() {
            return link.sent(Command.Advance.class).size();
        }

        private int polls() {
            return link.sent(Command.Poll.class).size();
        }

        @Test
        @DisplayName("for as many tokens as the cohorts before used, at least one and, once handed over, a block")
        void tokens() {
            assertThat(grants.tokensToAsk(queue)).isEqualTo(1);
            queue.append(request(alice));
            assertThat(grants.tokensToAsk(queue)).isEqualTo(1);
            queue.append(request(bob));
            assertThat(grants.tokensToAsk(queue)).isEqualTo(32);

            Grant grant = grant(200);
            grant.begin(new CohortState(false));
            RequestQueue none = new RequestQueue();
            serve(grant, request(alice));
            assertThat(grants.tokensToAsk(none)).isEqualTo(1);
            serve(grant, request(alice));
            assertThat(grants.tokensToAsk(none)).isEqualTo(32);
            for (int i = 2; i < 100; i++) {
                serve(grant, request(alice));
            }
            assertThat(grants.tokensToAsk(none)).isEqualTo(200);
            assertThat(grants.end(grant)).isTrue();

            assertThat(grants.tokensToAsk(none)).isEqualTo(1);
            assertThat(grants.tokensToAsk(queue)).isEqualTo(200);
            Grant brief = grant(1);
            brief.begin(new CohortState(false));
            assertThat(grants.end(brief)).isTrue();
            assertThat(grants.tokensToAsk(queue)).isEqualTo(150);
        }

        @Test
        @DisplayName("with strict order for enough tokens for all that wait")
        void strictTokens() {
            grants = of(ResourceSpec.MUTEX, Duration.ZERO);
            for (int i = 0; i < 100; i++) {
                queue.append(request(alice));
            }
            assertThat(grants.tokensToAsk(queue)).isEqualTo(102);
        }

        @Test
        @DisplayName("for tokens when no more are left than were used, one request at a time")
        void advance() {
            link.loseNext(Command.Advance.class);
            Grant grant = grant(6);
            grant.begin(new CohortState(false));
            serve(grant, request(alice));
            serve(grant, request(alice));
            prepare(grant, request(alice));
            assertThat(advances()).isZero();
            serve(grant, request(alice));
            prepare(grant, request(alice));
            assertThat(link.sent(Command.Advance.class)).singleElement().satisfies(sent -> {
                assertThat(sent.blockEnd()).isEqualTo(6);
                assertThat(sent.tokens()).isEqualTo(32);
            });
            prepare(grant, request(alice));
            assertThat(advances()).isEqualTo(1);

            grant.replenish(new Reply.Advanced(new TokenBlock(7, 38), false));
            assertThat(grant.blockEnd()).isEqualTo(38);
            assertThat(grant.cohort().isAdvancing()).isFalse();
            grants.advance(grant, queue, new DeferredActions());
            assertThat(grant.cohort().isAdvancing()).isTrue();
        }

        @Test
        @DisplayName("for tokens on a timer if the thread that got the hold would have to do it")
        void advanceByTimer() {
            link.loseNext(Command.Advance.class);
            Grant grant = grant(1);
            Request mine = request(Thread.currentThread());
            serve(grant, mine);
            prepare(grant, mine);
            assertThat(advances()).isZero();
            world.advance(Duration.ofNanos(1));
            assertThat(advances()).isEqualTo(1);
        }

        @Test
        @DisplayName("for no tokens if the grant serves one request, or its readers need none")
        void noAdvance() {
            Request only = request(alice);
            Grant bound = grant(1, only, null);
            serve(bound, only);
            prepare(bound, only);
            assertThat(advances()).isZero();

            grants = of(READ_WRITE, BUDGET);
            Grant shared = grant(1);
            serve(shared, reader(alice));
            prepare(shared, reader(alice));
            assertThat(advances()).isZero();
            queue.append(request(bob));
            link.loseNext(Command.Advance.class);
            prepare(shared, reader(alice));
            assertThat(advances()).isEqualTo(1);
        }

        @Test
        @DisplayName("for scarce tokens a millisecond after the last time")
        void scarce() {
            link.loseNext(Command.Advance.class);
            link.loseNext(Command.Advance.class);
            Grant grant = grant(2);
            serve(grant, request(alice));
            serve(grant, request(alice));
            prepare(grant, request(alice));
            grant.replenish(new Reply.Advanced(new TokenBlock(3, 3), false));
            serve(grant, request(alice));
            prepare(grant, request(alice));
            assertThat(advances()).isEqualTo(1);
            world.advance(Duration.ofNanos(999_999));
            assertThat(advances()).isEqualTo(1);
            world.advance(Duration.ofNanos(1));
            assertThat(advances()).isEqualTo(2);

            link.loseNext(Command.Advance.class);
            grant.replenish(new Reply.Advanced(new TokenBlock(4, 4), false));
            serve(grant, request(alice));
            prepare(grant, request(alice));
            assertThat(advances()).isEqualTo(2);
            world.advance(Duration.ofMillis(1));
            assertThat(advances()).isEqualTo(3);
        }

        @Test
        @DisplayName("whether others wait when the budget is spent, once until there is an answer")
        void budget() {
            link.loseNext(Command.Poll.class);
            link.loseNext(Command.Poll.class);
            Grant grant = grant(100);
            serve(grant, request(alice));
            prepare(grant, request(alice));
            assertThat(polls()).isZero();
            world.advance(BUDGET);
            prepare(grant, request(alice));
            prepare(grant, request(alice));
            assertThat(polls()).isEqualTo(1);

            grant.confirm(new Reply.Granted(new TokenBlock(201, 210), Optional.empty(), false), now());
            assertThat(grant.blockEnd()).isEqualTo(210);
            prepare(grant, request(alice));
            assertThat(polls()).isEqualTo(1);
            world.advance(BUDGET);
            prepare(grant, request(alice));
            assertThat(polls()).isEqualTo(2);

            grant.confirm(new Reply.Granted(new TokenBlock(1, 1), Optional.empty(), true), now());
            prepare(grant, request(alice));
            assertThat(polls()).isEqualTo(2);
            assertThat(grant.isSpent()).isTrue();
            Grant unused = grant(1);
            unused.begin(grant.cohort());
            assertThat(unused.isSpent()).isFalse();
            grants.remove(unused);
            assertThat(grant.mustYieldFor(request(bob))).isTrue();
            assertThat(grants.servingAtOnce(request(bob), true)).isSameAs(grant);
        }

        @Test
        @DisplayName("again after a question that has failed")
        void failedQuestion() {
            link.loseNext(Command.Poll.class);
            link.loseNext(Command.Poll.class);
            Grant grant = grant(100);
            grant.pollFailed();
            serve(grant, request(alice));
            prepare(grant, request(alice));
            world.advance(BUDGET);
            prepare(grant, request(alice));
            grant.pollFailed();
            prepare(grant, request(alice));
            assertThat(polls()).isEqualTo(2);
        }

        @Test
        @DisplayName("with strict order whether others wait, and serve only their batch until the answer")
        void strict() {
            grants = of(ResourceSpec.MUTEX, Duration.ZERO);
            link.loseNext(Command.Poll.class);
            link.loseNext(Command.Poll.class);
            Request batch = request(alice);
            Request later = request(bob);
            queue.append(batch);
            queue.append(later);
            Grant grant = grant(100, null, new PassCoverage(1));
            assertThat(grant.mustAskFirst(later)).isFalse();
            serve(grant, request(alice));

            assertThat(grant.mustAskFirst(later)).isTrue();
            assertThat(grant.mustAskFirst(batch)).isFalse();
            assertThat(grants.servingAtOnce(later, true)).isNull();
            assertThat(grants.servingAtOnce(batch, true)).isSameAs(grant);

            DeferredActions deferred = new DeferredActions();
            grants.ask(grant, deferred);
            deferred.send();
            assertThat(polls()).isEqualTo(1);
            grants.ask(grant, deferred);
            deferred.send();
            assertThat(polls()).isEqualTo(1);
            grant.confirm(new Reply.Granted(new TokenBlock(1, 1), Optional.empty(), false), now());
            assertThat(grants.servingAtOnce(later, true)).isSameAs(grant);
            assertThat(grant.mustYieldFor(later)).isFalse();

            world.advance(Duration.ofNanos(100_000));
            prepare(grant, batch);
            assertThat(polls()).isEqualTo(2);
            grant.confirm(new Reply.Granted(new TokenBlock(1, 1), Optional.empty(), true), now());
            assertThat(grant.mustAskFirst(later)).isTrue();
            prepare(grant, batch);
            assertThat(polls()).isEqualTo(2);
        }
    }
}
