package dev.holdfast.engine.local;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.Loss;
import dev.holdfast.engine.session.Claim;
import dev.holdfast.engine.session.Session;
import dev.holdfast.engine.session.SessionUser;
import dev.holdfast.spi.ClaimRef;
import dev.holdfast.spi.Command;
import dev.holdfast.spi.Command.Sending;
import dev.holdfast.spi.Lease;
import dev.holdfast.spi.Reply;
import dev.holdfast.spi.ResourceSpec;
import dev.holdfast.spi.TokenBlock;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** What the claims of one resource decide when grants are lost, and what they release at the store afterwards. */
@DisplayName("The claims of a resource")
class ClaimLossesTest extends ClaimsFixture {

    private static final Lease DETACHED = Lease.detached(Duration.ofMinutes(1));

    private void lose(Grant grant, Loss.Cause cause) {
        grants.resource().step(deferred -> claims.lose(grant, cause, deferred));
    }

    private void lose(Grant grant) {
        lose(grant, Loss.Cause.REMOVED);
    }

    private void closeLost(LocalHold hold, @Nullable Runnable leaving) {
        grants.resource().step(deferred -> claims.closeLost(hold, leaving, deferred));
    }

    private void closeAbandoned() {
        grants.resource().step(claims::closeAbandoned);
    }

    private boolean expire(Claim claim) {
        return grants.resource().decide(deferred -> claims.expire(claim, Loss.Cause.EXPIRED, deferred));
    }

    private void sessionOver(Session ended) {
        grants.resource().step(deferred -> claims.sessionOver(ended, Loss.Cause.SESSION_ENDED, deferred));
    }

    private boolean audit(Session audited, Set<ClaimRef> present) {
        SessionUser.Audit audit = new SessionUser.Audit(audited, present, now(), now());
        return grants.resource().decide(deferred -> claims.audit(audit, deferred));
    }

    /** A request for fewer seats than the claim that waits, which it passes: its own claim has no answer. */
    private Request passes(int weight) {
        Request less = seats(weight);
        queue.append(seats(weight + 1));
        queue.append(less);
        link.cutFor(Command.Acquire.class::isInstance);
        grants.resource().step(deferred -> claims.bargeNewcomers(queue, deferred));
        return less;
    }

    private Command.Release releaseOf(Grant grant) {
        return new Command.Release(grant.ref(), false);
    }

    // ---- Losses

    @Test
    @DisplayName("release a lost grant once all owners of its lost holds have closed them")
    void lostHolds() {
        use(READ_WRITE);
        Grant grant = grant(1);
        LocalHold first = enter(grant, reader(alice));
        LocalHold second = enter(grant, reader(bob));
        lose(grant);
        assertThat(List.of(first, second))
                .extracting(hold -> hold.loss().cause())
                .containsOnly(Loss.Cause.REMOVED);
        assertThat(grant.isIdle()).isTrue();
        assertThat(grants.isEmpty()).isTrue();
        assertThat(claims.hasLostHolds()).isTrue();
        assertThat(claims.isNone()).isFalse();
        assertThat(claims.knows(grant.ref())).isTrue();
        assertThat(claims.knows(new ClaimRef(NAME, grant.ref().session(), 1))).isFalse();
        assertThat(claims.lostHoldOf(alice)).isSameAs(first);
        assertThat(claims.lostHoldOf(null)).isNull();

        closeLost(first, null);
        assertThat(claims.lostHoldOf(alice)).isNull();
        assertThat(claims.lostHoldOf(bob)).isSameAs(second);
        assertThat(claims.knows(grant.ref())).isTrue();
        assertThat(releases()).isEmpty();
        closeLost(second, null);
        assertThat(releases()).containsExactly(releaseOf(grant));
        assertThat(claims.isNone()).isTrue();
        assertThat(claims.knows(grant.ref())).isFalse();
    }

    @Test
    @DisplayName("release an unused lost grant at once, and no grant twice")
    void lostIdle() {
        Grant grant = grant(1);
        lose(grant);
        assertThat(claims.hasLostHolds()).isFalse();
        grants.resource().step(deferred -> claims.giveBack(grant, deferred));
        assertThat(releases()).containsExactly(releaseOf(grant));
    }

    @Test
    @DisplayName("tell the store with the end of a grant that it was annotated")
    void annotated() {
        use(SEATS);
        Grant released = grant(1);
        Grant lost = grant(1);
        Grant inUse = grant(1);
        Grant exchanged = grant(1);
        grants.all().forEach(grant -> grant.claim.noteAnnotated());
        LocalHold hold = enter(inUse, request(null));
        grants.resource().step(deferred -> claims.giveBack(released, deferred));
        lose(lost);
        lose(inUse);
        closeLost(hold, null);
        assertThat(releases())
                .containsExactly(
                        new Command.Release(released.ref(), true),
                        new Command.Release(lost.ref(), true),
                        new Command.Release(inUse.ref(), true));
        yieldGrant(exchanged, request(bob));
        assertThat(link.sent(Command.Yield.class))
                .singleElement()
                .satisfies(sent -> assertThat(sent.isAnnotated()).isTrue());
    }

    @Test
    @DisplayName("leave a grant at the store if its owner does, or if only its lease ends it")
    void leaving() {
        Grant grant = grant(1);
        LocalHold hold = enter(grant, request(alice));
        lose(grant);
        AtomicInteger left = new AtomicInteger();
        closeLost(hold, left::incrementAndGet);
        assertThat(left).hasValue(1);

        Grant other = grant(1);
        claims.leave(other);
        assertThat(grants.isEmpty()).isTrue();
        assertThat(other.claim.isDead()).isTrue();
        assertThat(releases()).isEmpty();
    }

    @Test
    @DisplayName("lose a grant that has expired or that the store does not know, unless it is being exchanged")
    void vanished() {
        Grant expired = grant(1);
        assertThat(expire(expired.claim)).isTrue();
        assertThat(expire(expired.claim)).isFalse();
        assertThat(releases()).containsExactly(releaseOf(expired));

        Grant vanished = grant(1);
        LocalHold hold = enter(vanished, request(alice));
        grants.resource().step(deferred -> claims.vanished(vanished.claim, deferred));
        assertThat(hold.loss().cause()).isEqualTo(Loss.Cause.REMOVED);

        Grant exchanged = grant(1);
        Sent sent = yieldGrant(exchanged, request(bob));
        world.advance(Duration.ofNanos(1));
        assertThat(expire(exchanged.claim)).isFalse();
        grants.resource().step(deferred -> claims.vanished(exchanged.claim, deferred));
        assertThat(audit(exchanged.claim.session, new HashSet<>())).isFalse();
        assertThat(grants.has(exchanged)).isTrue();
        grants.resource().step(deferred -> claims.vanished(sent.claim(), deferred));
        assertThat(claims.isAsking()).isTrue();
    }

    @Test
    @DisplayName("lose the hold of an owner that has died, and release its grant unless others share it")
    void ownerDied() {
        use(READ_WRITE);
        Grant shared = grant(1);
        LocalHold first = enter(shared, reader(alice));
        LocalHold second = enter(shared, reader(bob));
        grants.resource().step(deferred -> claims.ownerDied(first, deferred));
        assertThat(first.loss().cause()).isEqualTo(Loss.Cause.OWNER_DIED);
        assertThat(second.loss()).isNull();
        assertThat(releases()).isEmpty();
        grants.resource().step(deferred -> claims.ownerDied(second, deferred));
        assertThat(releases()).containsExactly(releaseOf(shared));
        assertThat(claims.hasLostHolds()).isFalse();

        use(ResourceSpec.MUTEX);
        Request apart = request(Mode.FAIR_MUTEX, alice, AcquireTerms.attempt(DETACHED));
        Grant detached = grant(DETACHED, 1, apart, null);
        LocalHold outliving = enter(detached, apart);
        grants.resource().step(deferred -> claims.ownerDied(outliving, deferred));
        assertThat(outliving.loss()).isNull();
        assertThat(grants.has(detached)).isTrue();

        Grant lost = grant(1);
        LocalHold unclosed = enter(lost, request(alice));
        lose(lost);
        grants.resource().step(deferred -> claims.ownerDied(unclosed, deferred));
        assertThat(unclosed.loss().cause()).isEqualTo(Loss.Cause.REMOVED);
        assertThat(releases()).isEmpty();
    }

    @Test
    @DisplayName("close the lost holds of threads that have died, and of no others")
    void abandoned() {
        use(READ_WRITE);
        Grant grant = grant(1);
        enter(grant, reader(alice));
        LocalHold live = enter(grant, reader(Thread.currentThread()));
        closeAbandoned();
        lose(grant);
        closeAbandoned();
        assertThat(claims.lostHoldOf(alice)).isNull();
        assertThat(claims.lostHoldOf(Thread.currentThread())).isSameAs(live);
        assertThat(releases()).isEmpty();

        use(ResourceSpec.MUTEX);
        Grant orphaned = grant(1);
        enter(orphaned, request(alice));
        lose(orphaned);
        closeAbandoned();
        assertThat(claims.hasLostHolds()).isFalse();
        assertThat(releases()).containsExactly(releaseOf(orphaned));
    }

    @Test
    @DisplayName("forget the lost hold of no thread once its lease has certainly ended at the store")
    void endedAtStore() {
        use(SEATS);
        Request apart = request(Mode.unowned(SEATS, 10), null, AcquireTerms.attempt(OWN_LEASE));
        Grant grant = grant(OWN_LEASE, 1, apart, null);
        enter(grant, apart);
        lose(grant, Loss.Cause.LEASE_ENDED);
        long slowestClock = OWN_LEASE.length().dividedBy(4).toNanos();
        grant.claim.fixedLease.endAt(now() - slowestClock);
        closeAbandoned();
        assertThat(claims.hasLostHolds()).isTrue();
        grant.claim.fixedLease.endAt(now() - slowestClock - 1);
        closeAbandoned();
        assertThat(claims.hasLostHolds()).isFalse();
        assertThat(releases()).isEmpty();
    }

    @Test
    @DisplayName("give up part of a grant before the store knows, and never more than once")
    void shrink() {
        use(READ_WRITE);
        Grant grant = grant(1);
        grants.resource().step(deferred -> {
            claims.shrink(grant, 1, deferred);
            assertThat(grant.claim.weight()).isEqualTo(1);
            assertThat(link.sent(Command.ShrinkTo.class)).isEmpty();
        });
        grants.resource().step(deferred -> claims.shrink(grant, 1, deferred));
        assertThat(link.sent(Command.ShrinkTo.class)).containsExactly(new Command.ShrinkTo(grant.ref(), 1));
    }

    @Test
    @DisplayName("report tokens and failed questions to their grant, unless it has ended")
    void answersForGrants() {
        Grant grant = grant(1);
        grant.begin(new CohortState(false));
        claims.advanced(grant.claim, new Reply.Advanced(new TokenBlock(2, 3), false));
        assertThat(grant.tokensLeft()).isEqualTo(3);
        assertThat(grant.cohort().window.askNow(now())).isTrue();
        claims.pollFailed(grant.claim);
        assertThat(grant.cohort().window.askNow(now())).isTrue();

        claims.leave(grant);
        claims.advanced(grant.claim, new Reply.Advanced(new TokenBlock(4, 5), false));
        claims.pollFailed(grant.claim);
        assertThat(grant.tokensLeft()).isEqualTo(3);
        assertThat(grant.cohort().window.askNow(now())).isFalse();
    }

    // ---- Sessions and audits

    @Test
    @DisplayName("end with their session, except for grants that are detached")
    void sessionOver() {
        use(BARGING_SEATS);
        Session other = session("t", SESSION_LEFT);
        Sent sent = ask(seats(5));
        sent.answer(QUEUED);
        Request less = passes(4);
        Claim passing = less.bargingClaim();
        Grant grant = grant(session, Lease.SESSION, 1, null, null);
        LocalHold hold = enter(grant, seats(1));
        Grant ofOther = grant(other, Lease.SESSION, 1, null, null);
        Grant detached = grant(session, DETACHED, 1, seats(1), null);

        sessionOver(session("u", SESSION_LEFT));
        assertThat(claims.isWaiting()).isTrue();
        assertThat(grants.all()).hasSize(3);

        sessionOver(session);
        assertThat(claims.find(sent.claim().ref())).isNull();
        assertThat(claims.find(passing.ref())).isNull();
        assertThat(less.bargingClaim()).isNull();
        assertThat(withdrawals())
                .containsExactly(
                        new Command.Withdraw(sent.claim().ref(), Sending.REPEAT),
                        new Command.Withdraw(passing.ref(), Sending.REPEAT));
        assertThat(hold.loss().cause()).isEqualTo(Loss.Cause.SESSION_ENDED);
        assertThat(grants.all()).containsExactlyInAnyOrder(ofOther, detached);
    }

    @Test
    @DisplayName("lose in an audit a grant that the store does not have, unless it is newer than the audit")
    void audit() {
        use(SEATS);
        Grant lost = grant(session, Lease.SESSION, 1, null, null);
        Grant present = grant(session, Lease.SESSION, 1, null, null);
        Grant ofOther = grant(session("t", SESSION_LEFT), Lease.SESSION, 1, null, null);
        LocalHold hold = enter(lost, seats(1));
        world.advance(Duration.ofNanos(1));
        Grant fresh = grant(session, Lease.SESSION, 1, null, null);
        ClaimRef unknown = new ClaimRef(NAME, session.id, 1_000_000);
        Set<ClaimRef> found = new HashSet<>(Set.of(present.ref(), unknown));

        assertThat(audit(session, found)).isTrue();
        assertThat(found).containsExactly(unknown);
        assertThat(hold.loss().cause()).isEqualTo(Loss.Cause.REMOVED);
        assertThat(grants.all()).containsExactlyInAnyOrder(present, ofOther, fresh);
    }

    @Test
    @DisplayName("lose no grant in an audit while a command for it is under way")
    void auditOfCommandUnderWay() {
        Sent sent = ask(request(alice));
        grants.resource().step(deferred -> claims.granted(sent.claim(), GRANTED, now(), queue, deferred));
        world.advance(Duration.ofNanos(1));
        assertThat(audit(session, new HashSet<>())).isFalse();
        sent.answer(GRANTED);
        world.advance(Duration.ofNanos(1));
        assertThat(audit(session, new HashSet<>())).isTrue();
    }

    @Test
    @DisplayName("know in an audit what they wait for and what they have lost")
    void auditOfClaims() {
        use(BARGING_SEATS);
        Grant lost = grant(1);
        enter(lost, seats(1));
        lose(lost);
        Sent sent = ask(seats(5));
        sent.answer(QUEUED);
        Request less = passes(4);
        Set<ClaimRef> found = new HashSet<>(
                Set.of(lost.ref(), sent.claim().ref(), less.bargingClaim().ref()));

        assertThat(audit(session, found)).isFalse();
        assertThat(found).isEmpty();
        assertThat(claims.isWaiting()).isTrue();
    }

    @Test
    @DisplayName("are sent again, once no late sending can count, if an audit finds that they were forgotten")
    void forgotten() {
        Sent sent = ask(request(alice));
        assertThat(audit(session, new HashSet<>())).isFalse();
        world.advance(Duration.ofNanos(1));
        assertThat(audit(session("t", SESSION_LEFT), new HashSet<>())).isFalse();
        assertThat(link.sent(Command.KeepAlive.class)).isEmpty();

        link.answerNext(Command.KeepAlive.class, new Reply.SessionAlive());
        link.loseNext(Command.Acquire.class);
        assertThat(audit(session, new HashSet<>())).isFalse();
        assertThat(link.sent(Command.KeepAlive.class))
                .singleElement()
                .satisfies(sign -> assertThat(sign.session()).isEqualTo(session.id));
        assertThat(link.sent(Command.Acquire.class))
                .extracting(Command.Acquire::sending)
                .containsExactly(Sending.FIRST, Sending.REPEAT);
        assertThat(sent.claim().isSent()).isTrue();
    }

    @Test
    @DisplayName("that wait are polled after an audit")
    void polled() {
        Sent sent = ask(request(alice));
        grants.resource().step(deferred -> claims.queued(sent.claim(), deferred));
        world.advance(Duration.ofSeconds(1));
        assertThat(link.sent(Command.Poll.class)).isEmpty();

        link.loseNext(Command.Poll.class);
        assertThat(audit(session, new HashSet<>())).isFalse();
        world.advance(Duration.ofSeconds(1));
        assertThat(link.sent(Command.Poll.class))
                .containsExactly(new Command.Poll(List.of(sent.claim().ref())));
    }
}
