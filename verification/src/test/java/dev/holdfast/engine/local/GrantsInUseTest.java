package dev.holdfast.engine.local;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.engine.session.Claim;
import dev.holdfast.engine.wire.CommandSender;
import dev.holdfast.spi.CallerMode;
import dev.holdfast.spi.Command;
import dev.holdfast.spi.Lease;
import dev.holdfast.spi.Reply;
import dev.holdfast.spi.StoreException;
import dev.holdfast.spi.TokenBlock;
import dev.holdfast.verification.world.FaultyLink;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** What the grants of one resource decide, without the resource: whom they serve, and when they end. */
@DisplayName("The grants of a resource")
class GrantsInUseTest extends GrantsFixture {

    private static final CommandSender.Answer IGNORED = new CommandSender.Answer() {
        @Override
        public void reply(Reply reply, long sentAt) {}

        @Override
        public void failure(StoreException failure, long sentAt) {}
    };

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
        assertThat(bound.only()).isSameAs(only);
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
        assertThat(grants.first()).isSameAs(third);
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

    @Test
    @DisplayName("are to be asked about after a doubt if they are in use with their own leases")
    void fixedLeases() {
        grants = of(SEATS, BUDGET);
        Lease own = Lease.bounded(Duration.ofMinutes(1));
        Request request = request(Mode.unowned(SEATS, 10), null, AcquireTerms.attempt(own));
        Grant used = grant(own, 1, request, null);
        grant(own, 1, request, null);
        enter(used, request);
        enter(grant(1), request(null));

        List<Claim> found = new ArrayList<>();
        grants.addFixedLeases(found);
        assertThat(found).containsExactly(used.claim);
    }

    @Test
    @DisplayName("schedule one check at a time whether readers must leave room for others")
    void shrinkSchedule() {
        Grant grant = grant(1);
        assertThat(grant.scheduleShrink()).isTrue();
        assertThat(grant.scheduleShrink()).isFalse();
        grant.endShrinkSchedule();
        assertThat(grant.scheduleShrink()).isTrue();
    }
}
