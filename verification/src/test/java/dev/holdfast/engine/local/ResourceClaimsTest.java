package dev.holdfast.engine.local;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.Loss;
import dev.holdfast.engine.session.Claim;
import dev.holdfast.engine.session.PassCoverage;
import dev.holdfast.engine.session.Session;
import dev.holdfast.spi.Command;
import dev.holdfast.spi.Command.Sending;
import dev.holdfast.spi.Command.Waiting;
import dev.holdfast.spi.Lease;
import dev.holdfast.spi.Reply;
import dev.holdfast.spi.ResourceSpec;
import dev.holdfast.spi.TokenBlock;
import dev.holdfast.verification.world.FaultyLink;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** What the claims of one resource decide: what they ask of the store, and what follows from its answers. */
@DisplayName("The claims of a resource")
class ResourceClaimsTest extends ClaimsFixture {

    private static final AcquireTerms WAIT_WITH_OWN_LEASE =
            new AcquireTerms(OWN_LEASE, true, Duration.ofMinutes(1).toNanos(), AcquireTerms.Interrupts.END_WAIT, null);

    private void bargeNewcomers() {
        grants.resource().step(deferred -> claims.bargeNewcomers(queue, deferred));
    }

    private ResourceClaims.Pending refusedPending(Sent sent) {
        return grants.resource().decide(deferred -> claims.refused(sent.claim(), deferred));
    }

    // ---- Asking

    @Test
    @DisplayName("are made one at a time, and not while a grant serves the request or has to end first")
    void mayAsk() {
        assertThat(claims.mayAsk(request(alice))).isTrue();
        ask(request(alice));
        assertThat(claims.mayAsk(request(bob))).isFalse();

        use(ResourceSpec.MUTEX);
        grant(1);
        assertThat(claims.mayAsk(request(alice))).isFalse();

        use(SEATS);
        grant(1);
        assertThat(claims.mayAsk(request(alice))).isTrue();
        ask(request(alice));
        assertThat(claims.mayAsk(request(alice))).isFalse();
    }

    @Test
    @DisplayName("are made beside the grant of a reader if one of the two stands apart")
    void besideReaders() {
        use(READ_WRITE);
        Request apart = request(Mode.owned(READ_WRITE, 1), alice, AcquireTerms.attempt(OWN_LEASE));
        Request writer = request(Mode.owned(READ_WRITE, Integer.MAX_VALUE), alice, AcquireTerms.attempt(OWN_LEASE));
        Grant bound = grant(OWN_LEASE, 1, apart, null);
        bound.claim.shrinkTo(1);
        assertThat(claims.mayAsk(reader(bob))).isTrue();

        Grant open = grant(1);
        open.claim.shrinkTo(1);
        assertThat(claims.mayAsk(reader(bob))).isFalse();
        assertThat(claims.mayAsk(writer)).isFalse();
        assertThat(claims.mayAsk(apart)).isTrue();

        grants.remove(open);
        grant(1);
        assertThat(claims.mayAsk(apart)).isFalse();
    }

    @Test
    @DisplayName("know whether the store has answered since a request was queued")
    void answers() {
        assertThat(claims.isNone()).isTrue();
        assertThat(claims.answers()).isZero();
        Sent sent = ask(request(alice));
        assertThat(claims.isNone()).isFalse();
        assertThat(claims.isAsking()).isTrue();
        assertThat(claims.isWaiting()).isFalse();
        assertThat(claims.queuedRef()).isNull();
        assertThat(claims.isUnansweredSince(0)).isTrue();

        sent.answer(QUEUED);
        assertThat(claims.isAsking()).isFalse();
        assertThat(claims.isWaiting()).isTrue();
        assertThat(claims.queuedRef()).isEqualTo(sent.claim().ref());
        assertThat(claims.answers()).isEqualTo(-1);
        assertThat(claims.isUnansweredSince(0)).isFalse();

        grants.resource().step(deferred -> claims.vanished(sent.claim(), deferred));
        assertThat(claims.isNone()).isTrue();
        assertThat(claims.answers()).isEqualTo(1);
        assertThat(claims.isUnansweredSince(0)).isFalse();
        assertThat(claims.isUnansweredSince(1)).isTrue();
        Grant grant = grant(1);
        assertThat(claims.answers()).isEqualTo(-1);
        assertThat(claims.find(grant.ref())).isSameAs(grant.claim);
        assertThat(claims.knows(grant.ref())).isTrue();

        grants.resource().step(deferred -> claims.giveBack(grant, deferred));
        assertThat(claims.answers()).isEqualTo(2);
    }

    @Test
    @DisplayName("for permits have no answer while one is under way, whatever is held")
    void answersBesideGrants() {
        use(SEATS);
        grant(1);
        assertThat(claims.answers()).isEqualTo(-1);
        assertThat(claims.isUnansweredSince(0)).isFalse();
        ask(request(alice));
        assertThat(claims.answers()).isZero();
        assertThat(claims.isUnansweredSince(0)).isTrue();
    }

    @Test
    @DisplayName("pass one that waits: once for each newcomer that asks for less, or only tries")
    void barging() {
        use(BARGING_SEATS);
        Request less = seats(4);
        Request tries = seats(9, AcquireTerms.TRY);
        queue.append(seats(5));
        queue.append(less);
        queue.append(seats(5));
        queue.append(tries);
        bargeNewcomers();
        assertThat(link.sent()).isEmpty();

        Sent waiting = ask(seats(5));
        waiting.answer(QUEUED);
        link.forget();
        link.cutFor(Command.Acquire.class::isInstance);
        queue.renewNewcomers();
        bargeNewcomers();
        queue.renewNewcomers();
        bargeNewcomers();
        assertThat(link.sent(Command.Acquire.class))
                .extracting(Command.Acquire::weight)
                .containsExactly(4, 9);
        assertThat(link.sent(Command.Acquire.class))
                .extracting(Command.Acquire::waiting)
                .containsOnly(Waiting.TRY);
        assertThat(claims.find(less.bargingClaim().ref())).isSameAs(less.bargingClaim());
        assertThat(claims.servedOutOfOrder(waiting.claim())).isNull();
        grants.resource().step(deferred -> claims.vanished(waiting.claim(), deferred));
        assertThat(claims.isNone()).isFalse();
        assertThat(claims.mayAsk(less)).isFalse();

        Claim passing = less.bargingClaim();
        assertThat(claims.servedOutOfOrder(passing)).isSameAs(less);
        Grant grant = grants.resource().decide(deferred -> claims.granted(passing, GRANTED, now(), queue, deferred));
        assertThat(grant.claim).isSameAs(passing);
        assertThat(grant.isBound()).isFalse();
        assertThat(less.bargingClaim()).isNull();

        Claim refused = tries.bargingClaim();
        ResourceClaims.Pending pending = grants.resource().decide(deferred -> claims.refused(refused, deferred));
        assertThat(pending.only()).isSameAs(tries);
        assertThat(pending.isBarging()).isTrue();
        assertThat(tries.bargingClaim()).isNull();
        assertThat(claims.isNone()).isTrue();
    }

    @Test
    @DisplayName("that pass others are withdrawn when their requests have ended")
    void bargingForNobody() {
        use(BARGING_SEATS);
        Request less = seats(4);
        queue.append(seats(5));
        queue.append(less);
        ask(seats(5)).answer(QUEUED);
        FaultyLink.HeldUp command = link.holdUpNext(Command.Acquire.class);
        bargeNewcomers();
        Claim passing = less.bargingClaim();

        less.abandon();
        queue.remove(less);
        assertThat(dropUnwanted()).isFalse();
        assertThat(passing.isDead()).isTrue();
        assertThat(less.bargingClaim()).isNull();
        command.answer(GRANTED);
        assertThat(grants.isEmpty()).isTrue();
        assertThat(withdrawals()).containsExactly(new Command.Withdraw(passing.ref(), Sending.FIRST));
    }

    @Test
    @DisplayName("for passes ask once at a time whether they still wait, if requests have come since")
    void cover() {
        use(LATCH);
        Request first = request(Mode.unowned(LATCH, 0), null, AcquireTerms.FOREVER);
        Request second = request(Mode.unowned(LATCH, 0), null, AcquireTerms.FOREVER);
        queue.append(first);
        Sent sent = ask(first);
        assertThat(claims.mustWait(first)).isFalse();
        queue.append(second);
        grants.resource().step(deferred -> claims.cover(queue, deferred));
        sent.answer(QUEUED);
        assertThat(claims.mustWait(first)).isTrue();
        assertThat(claims.mustWait(second)).isFalse();
        assertThat(link.sent(Command.Poll.class)).isEmpty();

        FaultyLink.HeldUp poll = link.holdUpNext(Command.Poll.class);
        grants.resource().step(deferred -> claims.cover(queue, deferred));
        assertThat(link.sent(Command.Poll.class)).hasSize(1);
        grants.resource().step(deferred -> claims.cover(queue, deferred));
        assertThat(link.sent(Command.Poll.class)).hasSize(1);
        poll.answer(new Reply.Polled(List.of(QUEUED)));
        assertThat(claims.mustWait(second)).isTrue();
        grants.resource().step(deferred -> claims.cover(queue, deferred));
        assertThat(link.sent(Command.Poll.class)).hasSize(1);
    }

    @Test
    @DisplayName("and the first grant have no batch once the queue was empty")
    void endBatches() {
        use(ResourceSpec.MUTEX, Duration.ZERO);
        Request request = request(alice);
        queue.append(request);
        Sent sent = ask(request);
        Grant grant = grant(1, null, new PassCoverage(1));
        assertThat(sent.claim().covers(1)).isTrue();
        assertThat(sent.claim().covers(2)).isFalse();
        claims.endBatches();
        assertThat(sent.claim().covers(1)).isFalse();
        assertThat(grant.claim.covers(1)).isFalse();
    }

    // ---- Grants

    @Test
    @DisplayName("become grants for a single request only if it has its own lease")
    void bound() {
        Request apart = request(Mode.FAIR_MUTEX, alice, AcquireTerms.attempt(OWN_LEASE));
        Sent sent = ask(apart);
        assertThat(claims.servedOutOfOrder(sent.claim())).isNull();
        sent.answer(new Reply.Granted(new TokenBlock(1, 1), Optional.of(OWN_LEASE.length()), false));
        assertThat(grants.first().only()).isSameAs(apart);
        assertThat(claims.isNone()).isTrue();
        assertThat(claims.servedOutOfOrder(sent.claim())).isSameAs(apart);
        enter(grants.first(), apart);
        assertThat(claims.servedOutOfOrder(sent.claim())).isNull();

        use(ResourceSpec.MUTEX);
        ask(request(Mode.FAIR_MUTEX, alice, AcquireTerms.TRY)).answer(GRANTED);
        assertThat(grants.first().isBound()).isFalse();
        assertThat(grants.first().claim.isHeld()).isTrue();
        assertThat(grants.first().tokensLeft()).isEqualTo(10);
    }

    @Test
    @DisplayName("are for a single request if it has its own lease or only tries, also when they exchange a grant")
    void forOneRequest() {
        Request tries = request(Mode.FAIR_MUTEX, alice, AcquireTerms.TRY);
        Request apart = request(Mode.FAIR_MUTEX, alice, WAIT_WITH_OWN_LEASE);
        assertThat(refusedPending(ask(tries)).only()).isSameAs(tries);
        assertThat(refusedPending(ask(apart)).only()).isSameAs(apart);
        assertThat(refusedPending(ask(request(alice))).only()).isNull();
        assertThat(refusedPending(yieldGrant(grant(1), apart)).only()).isSameAs(apart);
    }

    @Test
    @DisplayName("count each answer of the store, and take what confirms a grant")
    void confirmed() {
        ask(request(alice)).answer(TAKEN);
        assertThat(claims.answers()).isEqualTo(1);
        Sent sent = ask(request(alice));
        sent.answer(GRANTED);
        Grant grant = grants.first();
        Reply.Granted later = new Reply.Granted(new TokenBlock(201, 205), Optional.empty(), false);
        Grant confirmed =
                grants.resource().decide(deferred -> claims.granted(sent.claim(), later, now(), queue, deferred));
        assertThat(confirmed).isSameAs(grant);
        assertThat(grants.all()).containsExactly(grant);
        assertThat(grant.blockEnd()).isEqualTo(205);
        grants.resource().step(deferred -> claims.giveBack(grant, deferred));
        assertThat(claims.answers()).isEqualTo(4);
    }

    @Test
    @DisplayName("become grants with a cohort if others wait here, at the store, or may do so in strict order")
    void cohorts() {
        queue.append(request(alice));
        ask(request(alice)).answer(GRANTED);
        assertThat(grants.first().cohort()).isNull();

        use(ResourceSpec.MUTEX);
        ask(request(alice)).answer(GRANTED_AWAITED);
        assertThat(grants.first().cohort().isAwaited()).isTrue();

        use(ResourceSpec.MUTEX);
        Sent waiting = ask(request(alice));
        waiting.answer(QUEUED);
        grants.resource().step(deferred -> claims.granted(waiting.claim(), GRANTED, now(), queue, deferred));
        assertThat(grants.first().cohort()).isNull();

        use(ResourceSpec.MUTEX, Duration.ZERO);
        ask(request(alice)).answer(GRANTED);
        assertThat(grants.first().cohort()).isNull();

        use(ResourceSpec.MUTEX, Duration.ZERO);
        Sent strict = ask(request(alice));
        strict.answer(QUEUED);
        grants.resource().step(deferred -> claims.granted(strict.claim(), GRANTED, now(), queue, deferred));
        assertThat(grants.first().cohort().isAwaited()).isTrue();

        use(ResourceSpec.MUTEX);
        queue.append(request(bob));
        ask(request(alice)).answer(GRANTED);
        assertThat(grants.first().cohort().isAwaited()).isFalse();
    }

    @Test
    @DisplayName("end the grants that leave no room for them when they are granted")
    void excluded() {
        use(READ_WRITE);
        Grant readers = grant(1);
        readers.claim.shrinkTo(1);
        LocalHold reader = enter(readers, reader(alice));
        ask(reader(bob)).answer(GRANTED);
        assertThat(reader.loss()).isNull();
        assertThat(grants.all()).hasSize(2);
        ask(request(bob)).answer(GRANTED);
        assertThat(reader.loss().cause()).isEqualTo(Loss.Cause.REMOVED);
        assertThat(grants.all()).hasSize(1);
        LocalHold writer = enter(grants.first(), request(bob));
        ask(reader(alice)).answer(GRANTED);
        assertThat(writer.loss()).isNotNull();
        assertThat(grants.all()).hasSize(1);

        use(SEATS);
        grant(1);
        ask(request(alice)).answer(GRANTED);
        assertThat(grants.all()).hasSize(2);
    }

    @Test
    @DisplayName("become no grants once their session has passed its deadline")
    void late() {
        Sent sent = ask(session("old", Duration.ZERO), request(alice));
        sent.answer(GRANTED);
        assertThat(grants.isEmpty()).isTrue();
        assertThat(claims.isNone()).isTrue();
        assertThat(withdrawals())
                .containsExactly(new Command.Withdraw(sent.claim().ref(), Sending.FIRST));
    }

    // ---- Yields

    @Test
    @DisplayName("exchange a grant for a place in the queue in one step")
    void yieldQueued() {
        Grant old = grant(1);
        Sent sent = yieldGrant(old, request(bob));
        assertThat(link.sent(Command.Yield.class))
                .singleElement()
                .satisfies(command -> assertThat(command.claim()).isEqualTo(old.ref()));
        assertThat(old.claim.isYielding()).isTrue();
        assertThat(grants.has(old)).isTrue();
        assertThat(claims.answers()).isEqualTo(-1);
        assertThat(dropUnwanted()).isFalse();

        sent.answer(QUEUED);
        assertThat(grants.isEmpty()).isTrue();
        assertThat(claims.isWaiting()).isTrue();
        assertThat(releases()).isEmpty();
        assertThat(dropUnwanted()).isTrue();
        assertThat(withdrawals())
                .containsExactly(new Command.Withdraw(sent.claim().ref(), Sending.FIRST));
    }

    @Test
    @DisplayName("replace a grant that they exchange, without releasing it")
    void yieldGranted() {
        Grant old = grant(1);
        Sent sent = yieldGrant(old, request(bob));
        sent.answer(GRANTED);
        assertThat(grants.all()).extracting(grant -> grant.claim).containsExactly(sent.claim());
        assertThat(old.claim.state()).isEqualTo(Claim.State.OVER);
        assertThat(releases()).isEmpty();
    }

    @Test
    @DisplayName("release a grant whose exchange was refused")
    void yieldRefused() {
        Grant old = grant(1);
        yieldGrant(old, request(bob)).answer(TAKEN);
        assertThat(grants.isEmpty()).isTrue();
        assertThat(claims.isNone()).isTrue();
        assertThat(releases()).containsExactly(new Command.Release(old.ref(), false));
    }

    @Test
    @DisplayName("are not made under a session that has ended")
    void underEndedSession() {
        use(BARGING_SEATS);
        Session ended = endedSession();
        Grant grant = grant(ended, Lease.SESSION, 1, null, null);
        grants.resource().step(deferred -> claims.yieldGrant(grant, seats(10), queue, deferred));
        assertThat(releases()).containsExactly(new Command.Release(grant.ref(), false));
        assertThat(link.sent(Command.Yield.class)).isEmpty();

        ask(ended, seats(5)).answer(QUEUED);
        link.forget();
        queue.append(seats(5));
        queue.append(seats(4));
        bargeNewcomers();
        assertThat(link.sent(Command.Acquire.class)).isEmpty();
    }

    @Test
    @DisplayName("release a grant instead of an exchange for a try, or beside a claim that waits")
    void noYield() {
        Grant old = grant(1);
        Request tries = request(Mode.FAIR_MUTEX, bob, AcquireTerms.TRY);
        grants.resource().step(deferred -> claims.yieldGrant(old, tries, queue, deferred));
        assertThat(releases()).containsExactly(new Command.Release(old.ref(), false));
        assertThat(claims.isNone()).isTrue();

        use(SEATS);
        Grant other = grant(1);
        Sent sent = ask(request(alice));
        grants.resource().step(deferred -> claims.yieldGrant(other, request(bob), queue, deferred));
        assertThat(releases()).containsExactly(new Command.Release(other.ref(), false));
        assertThat(claims.find(sent.claim().ref())).isSameAs(sent.claim());
        assertThat(link.sent(Command.Yield.class)).isEmpty();
    }
}
