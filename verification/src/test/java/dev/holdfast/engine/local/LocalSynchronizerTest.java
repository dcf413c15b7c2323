package dev.holdfast.engine.local;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.LockOptions;
import dev.holdfast.Loss;
import dev.holdfast.Permits;
import dev.holdfast.ReleaseOutcome;
import dev.holdfast.engine.session.Claim;
import dev.holdfast.engine.session.Session;
import dev.holdfast.engine.session.SessionUser;
import dev.holdfast.spi.CallerMode;
import dev.holdfast.spi.Command;
import dev.holdfast.spi.Lease;
import dev.holdfast.spi.Refusal;
import dev.holdfast.spi.Reply;
import dev.holdfast.spi.ResourceSpec;
import dev.holdfast.spi.StoreException.Effect;
import dev.holdfast.spi.StoreException.Reason;
import dev.holdfast.verification.world.FaultyLink;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** What follows at one resource from the end of its holds, the answers of the store, and the death of owners. */
@DisplayName("A resource of a process")
class LocalSynchronizerTest extends ResourceFixture {

    private static final Lease OWN_LEASE = Lease.bounded(Duration.ofSeconds(10));
    private static final Duration ASLEEP = Duration.ofMinutes(2);

    // ---- Holds

    @Test
    @DisplayName("finds the hold of a thread, and the live one unless it is lost")
    void holdOf() {
        Request holder = entered(request(alice));
        LocalSynchronizer resource = resource();
        assertThat(resource.holdOf(alice)).isSameAs(holder.hold());
        assertThat(resource.liveHoldOf(alice)).isSameAs(holder.hold());
        assertThat(resource.holdOf(bob)).isNull();
        assertThat(resource.liveHoldOf(bob)).isNull();
        assertThat(resource.isHeldExclusively()).isTrue();
        assertThat(owned(resource)).containsExactly(holder.hold());

        lose(holder);
        assertThat(resource.holdOf(alice)).isSameAs(holder.hold());
        assertThat(resource.liveHoldOf(alice)).isNull();
        assertThat(resource.isHeldExclusively()).isFalse();
        assertThat(owned(resource)).isEmpty();
        assertThat(release(holder)).isCompletedWithValue(ReleaseOutcome.LOST);
    }

    @Test
    @DisplayName("finds the holds of its readers")
    void readers() {
        use(READ_WRITE);
        Request first = entered(reader(alice));
        Request second = entered(reader(bob));
        LocalSynchronizer resource = resource();
        assertThat(resource.holdOf(alice)).isSameAs(first.hold());
        assertThat(resource.liveHoldOf(bob)).isSameAs(second.hold());
        assertThat(resource.liveHoldOf(carol)).isNull();
        assertThat(resource.isHeldExclusively()).isFalse();
        assertThat(owned(resource)).containsExactly(first.hold(), second.hold());
        assertThat(resource.holds()).isEqualTo(2);
        assertThat(release(first)).isCompletedWithValue(ReleaseOutcome.RELEASED);
        assertThat(link.sent(Command.Poll.class)).isEmpty();
        assertThat(resource.holds()).isEqualTo(1);
        release(second);
        world.advance(KEPT);
    }

    private static List<LocalHold> owned(LocalSynchronizer resource) {
        List<LocalHold> holds = new ArrayList<>();
        resource.eachOwnedHold(holds::add);
        return holds;
    }

    @Test
    @DisplayName("gives a grant back whose id is known, and asks again for the request that waits")
    void named() {
        Request holder = entered(request(alice));
        Request waits = entered(request(bob));
        resource().name(holdOf(holder));
        assertThat(release(holder)).isCompletedWithValue(ReleaseOutcome.RELEASED);
        assertThat(isGranted(waits)).isTrue();
        assertThat(releases()).hasSize(1);
        assertThat(acquires()).hasSize(2);
        assertThatThrownBy(() -> resource().name(holdOf(holder))).isInstanceOf(IllegalStateException.class);
        release(waits);
    }

    @Test
    @DisplayName("hands no grant over that is in doubt: its owner learns from the store how its hold ended")
    void releaseInDoubt() {
        Request holder = entered(request(alice));
        Request waits = entered(request(bob));
        FaultyLink.HeldUp keepAlive = link.holdUpNext(Command.KeepAlive.class);
        FaultyLink.HeldUp release = link.holdUpNext(Command.Release.class);
        world.time().stepWall(Duration.ofHours(1));
        var stage = release(holder);
        release.awaitCommand();
        assertThat(stage).isNotDone();
        release.answer(new Reply.Absent());
        assertThat(stage).isCompletedWithValue(ReleaseOutcome.LOST);
        release.deliver();
        keepAlive.proceed();
        assertThat(isGranted(waits)).isTrue();
        release(waits);
    }

    @Test
    @DisplayName("reports a hold as lost that is released after its deadline, and ends its session without the store")
    void releaseAfterDeadline() {
        Request holder = entered(request(alice));
        Session session = holdOf(holder).claim().session;
        link.cut();
        world.time().suspend(ASLEEP);
        assertThat(release(holder)).isCompletedWithValue(ReleaseOutcome.LOST);
        assertThat(holdOf(holder).loss()).extracting(Loss::cause).isEqualTo(Loss.Cause.EXPIRED);
        assertThat(session.isAlive()).isFalse();
    }

    @Test
    @DisplayName("reports a hold as lost that is released after its own lease, and serves the next request")
    void releaseAfterOwnLease() {
        Request holder = entered(request(Mode.FAIR_MUTEX, alice, AcquireTerms.attempt(OWN_LEASE)));
        Request waits = entered(request(bob));
        world.time().suspend(OWN_LEASE.length().plusSeconds(1));
        assertThat(release(holder)).isCompletedWithValue(ReleaseOutcome.LOST);
        assertThat(holdOf(holder).loss()).extracting(Loss::cause).isEqualTo(Loss.Cause.LEASE_ENDED);
        assertThat(isGranted(waits)).isTrue();
        release(waits);
    }

    @Test
    @DisplayName("asks the store for a request that waits when a hold leaves its grant there")
    void leavesGrant() {
        Mode leaving = Mode.unowned(ResourceSpec.MUTEX, 1, LeavingHold::new);
        Request holder = entered(request(leaving, null, AcquireTerms.attempt(OWN_LEASE)));
        Request waits = entered(request(bob));
        assertThat(acquires()).hasSize(1);
        assertThat(release(holder)).isCompletedWithValue(ReleaseOutcome.RELEASED);
        assertThat(releases()).isEmpty();
        assertThat(acquires()).hasSize(2);
        assertThat(waits.isDone()).isFalse();
        world.advance(OWN_LEASE.length().plusSeconds(5));
        assertThat(isGranted(waits)).isTrue();
        release(waits);
    }

    /** A hold whose grant stays at the store until its lease ends there. */
    private static final class LeavingHold extends LocalHold {
        private LeavingHold(HoldIssuer issuer, Grant grant, Request request, long token) {
            super(issuer, grant, request, token);
        }

        @Override
        protected Runnable leaving(CallerMode caller, CompletableFuture<ReleaseOutcome> stage) {
            return () -> stage.complete(ReleaseOutcome.RELEASED);
        }
    }

    @Test
    @DisplayName("serves a request that waits once the owner has closed a lost hold, not before")
    void closeLost() {
        Request holder = entered(request(alice));
        Request waits = entered(request(bob));
        lose(holder);
        assertThat(waits.isDone()).isFalse();
        assertThat(releases()).isEmpty();
        assertThat(acquires()).hasSize(2);
        assertThat(entered(request(alice)).failure())
                .as("before it has closed its hold")
                .isNotNull();
        assertThat(release(holder)).isCompletedWithValue(ReleaseOutcome.LOST);
        assertThat(releases()).hasSize(1);
        assertThat(isGranted(waits)).isTrue();
        release(waits);
        assertThat(resources.resource(NAME)).isNull();
    }

    @Test
    @DisplayName("shares a writer's grant once it is downgraded, at once if no one waits, and with readers elsewhere")
    void downgrade() {
        use(READ_WRITE);
        Request writer = entered(request(alice));
        resource().downgrade(holdOf(writer));
        assertThat(holdOf(writer).isShare()).isTrue();
        assertThat(link.sent(Command.ShrinkTo.class)).hasSize(1);
        Request reads = entered(reader(bob));
        assertThat(isGranted(reads)).isTrue();
        resource().downgrade(holdOf(reads));
        release(reads);
        release(writer);
        world.advance(KEPT);

        use(READ_WRITE);
        Request other = entered(request(alice));
        Request waits = entered(reader(bob));
        resource().downgrade(holdOf(other));
        assertThat(isGranted(waits)).isTrue();
        assertThat(link.sent(Command.ShrinkTo.class)).isEmpty();
        world.advance(BUDGET.multipliedBy(2));
        assertThat(link.sent(Command.ShrinkTo.class)).hasSize(1);
        release(other);
        release(waits);
        world.advance(KEPT);
    }

    @Test
    @DisplayName("leaves room for readers elsewhere a budget after a downgrade before which a writer waits")
    void downgradeBeforeWriter() {
        use(READ_WRITE);
        Request writer = entered(request(alice));
        Request waits = entered(request(bob));
        resource().downgrade(holdOf(writer));
        assertThat(waits.isDone()).isFalse();
        world.advance(BUDGET.minusNanos(1));
        assertThat(link.sent(Command.ShrinkTo.class)).isEmpty();
        world.advance(Duration.ofNanos(1));
        assertThat(link.sent(Command.ShrinkTo.class)).hasSize(1);
        release(writer);
        assertThat(isGranted(waits)).isTrue();
        release(waits);
    }

    @Test
    @DisplayName("downgrades no hold that is lost")
    void downgradeLost() {
        use(READ_WRITE);
        Request writer = entered(request(alice));
        LocalSynchronizer resource = resource();
        lose(writer);
        resource.downgrade(holdOf(writer));
        assertThat(holdOf(writer).isShare()).isFalse();
        assertThat(link.sent(Command.ShrinkTo.class)).isEmpty();
        release(writer);
    }

    // ---- Answers of the store

    @Test
    @DisplayName("fails all requests when the store can't be reached, but none for a claim that no request wants")
    void unreachable() {
        FaultyLink.HeldUp unwanted = holdUpAcquire();
        Request leaves = entered(request(alice));
        assertThat(resource().cancel(leaves)).isTrue();
        FaultyLink.HeldUp acquire = holdUpAcquire();
        Request first = entered(request(bob));
        Request second = entered(request(carol));
        unwanted.fail(Reason.DENIED, Effect.NONE);
        assertThat(first.isDone()).isFalse();

        acquire.fail(Reason.DENIED, Effect.NONE);
        assertThat(first.failure()).isNotNull();
        assertThat(second.failure()).isNotNull();
        world.advance(Duration.ofSeconds(5));
        assertThat(resources.resource(NAME)).isNull();
    }

    @Test
    @DisplayName("ends the requests that ask for as much as a claim for too much, or for more")
    void tooHeavy() {
        use(SEATS);
        FaultyLink.HeldUp acquire = holdUpAcquire();
        Request first = entered(seats(5));
        Request same = entered(seats(5));
        Request heavier = entered(seats(8));
        Request lighter = entered(seats(4));
        acquire.answer(new Reply.Refused(Refusal.TOO_HEAVY, "there are 4"));
        assertThat(isGranted(lighter)).isTrue();
        assertThat(List.of(first, same, heavier)).allMatch(Request::isDone).noneMatch(ResourceFixture::isGranted);
        release(lighter);
    }

    @Test
    @DisplayName("fails all requests when the store has the name as something else")
    void mismatch() {
        use(SEATS);
        FaultyLink.HeldUp acquire = holdUpAcquire();
        Request first = entered(seats(5));
        Request lighter = entered(seats(4));
        acquire.answer(new Reply.Refused(Refusal.MISMATCH, "it is a mutex"));
        assertThat(first.failure()).isNotNull();
        assertThat(lighter.failure()).isNotNull();
        assertThat(resources.resource(NAME)).isNull();

        acquire = holdUpAcquire();
        Request tries = entered(seats(5, AcquireTerms.TRY));
        Request behind = entered(seats(4));
        acquire.answer(new Reply.Refused(Refusal.MISMATCH, "it is a mutex"));
        assertThat(tries.failure()).isNotNull();
        assertThat(behind.failure()).isNotNull();
    }

    @Test
    @DisplayName("withdraws a claim that no request wants and whose answer was lost, once it can no longer arrive")
    void unwantedWithoutAnswer() {
        FaultyLink.HeldUp acquire = holdUpAcquire();
        Request leaves = entered(request(alice));
        assertThat(resource().cancel(leaves)).isTrue();
        acquire.deliver();
        acquire.fail(Reason.UNAVAILABLE, Effect.UNKNOWN);
        assertThat(link.sent(Command.Withdraw.class))
                .containsExactly(new Command.Withdraw(acquires().get(0).claim(), Command.Sending.REPEAT));
        assertThat(world.holderOf(NAME.value())).isEmpty();
    }

    @Test
    @DisplayName("asks again whether others wait at the store when that question has failed, and then hands over")
    void failedQuestion() {
        use(ResourceSpec.MUTEX, Duration.ZERO);
        Request holder = entered(request(alice));
        Request waits = entered(request(bob));
        link.failNext(Command.Poll.class, Reason.UNAVAILABLE, Effect.NONE);
        release(holder);
        assertThat(waits.isDone()).isFalse();
        world.advance(Duration.ofSeconds(5));
        assertThat(isGranted(waits)).isTrue();
        release(waits);
    }

    @Test
    @DisplayName("asks again when the store does not know the claim that waits")
    void vanished() {
        FaultyLink.HeldUp acquire = holdUpAcquire();
        Request waits = entered(request(alice));
        acquire.answer(QUEUED);
        LocalSynchronizer resource = resource();
        Claim claim = resource.claimOf(acquires().get(0).claim());
        FaultyLink.HeldUp again = holdUpAcquire();
        resource.step(deferred -> resource.vanished(claim, deferred));
        assertThat(acquires()).hasSize(2);
        Request later = entered(request(bob));
        assertThat(resource.isUnanswered(waits)).isFalse();
        assertThat(resource.isUnanswered(later)).isTrue();
        again.proceed();
        assertThat(isGranted(waits)).isTrue();
        release(waits);
        release(later);
    }

    @Test
    @DisplayName("ends the requests that a claim would serve when others have what it asks for, and no other")
    void taken() {
        use(SEATS);
        FaultyLink.HeldUp acquire = holdUpAcquire();
        Request first = entered(seats(5));
        Request same = entered(seats(5));
        Request lighter = entered(seats(4));
        Request tries = entered(seats(3, AcquireTerms.TRY));
        acquire.answer(ClaimsFixture.TAKEN);
        assertThat(isRefused(first)).isTrue();
        assertThat(isRefused(same)).isTrue();
        assertThat(isGranted(lighter)).isTrue();
        assertThat(isGranted(tries)).isTrue();
        release(lighter);
        release(tries);
    }

    @Test
    @DisplayName("ends a try that the store refuses, and neither those behind it nor one that passes and may wait")
    void takenForOne() throws Exception {
        use(SEATS);
        FaultyLink.HeldUp acquire = holdUpAcquire();
        Request tries = entered(seats(5, AcquireTerms.TRY));
        Request same = entered(seats(5));
        acquire.answer(ClaimsFixture.TAKEN);
        assertThat(isRefused(tries)).isTrue();
        assertThat(isGranted(same)).isTrue();
        release(same);

        use(BARGING_SEATS);
        try (Permits theirs = world.client("bob")
                .semaphore("ledger", 10, LockOptions.barging())
                .acquire(8)) {
            Request heavy = entered(seats(9));
            Request passes = entered(seats(4));
            assertThat(acquires()).hasSize(2);
            assertThat(passes.isDone()).isFalse();
            theirs.close();
            release(heavy);
            release(passes);
        }
    }

    @Test
    @DisplayName("gives a grant back that passes others for a request that has ended")
    void bargedInVain() throws Exception {
        use(BARGING_SEATS);
        try (Permits theirs = world.client("bob")
                .semaphore("ledger", 10, LockOptions.barging())
                .acquire(6)) {
            Request heavy = entered(seats(5));
            FaultyLink.HeldUp acquire = holdUpAcquire();
            Request passes = entered(seats(4));
            assertThat(resource().cancel(passes)).isTrue();
            acquire.proceed();
            assertThat(passes.hold()).isNull();
            assertThat(link.sent(Command.Withdraw.class)).hasSize(1);
            theirs.close();
            release(heavy);
        }
    }

    // ---- Sessions and owners

    @Test
    @DisplayName("fails the requests that were queued before an attempt to open a session, and no later one")
    void failQueuedBefore() {
        Request holder = entered(request(alice));
        Request waits = entered(request(bob));
        LocalSynchronizer resource = resource();
        long attempts = waits.sessionAttemptsBefore();
        assertThat(attempts).isPositive();
        resource.failQueuedBefore(attempts, IllegalStateException::new);
        assertThat(waits.isDone()).isFalse();
        resource.failQueuedBefore(attempts + 1, IllegalStateException::new);
        assertThat(waits.failure()).isNotNull();
        assertThat(holdOf(holder).loss()).isNull();
        release(holder);
    }

    @Test
    @DisplayName("withdraws its claim when all requests fail")
    void failAll() {
        FaultyLink.HeldUp acquire = holdUpAcquire();
        Request waits = entered(request(alice));
        acquire.answer(QUEUED);
        resource().failAll(IllegalStateException::new);
        assertThat(waits.failure()).isNotNull();
        assertThat(link.sent(Command.Withdraw.class)).hasSize(1);
        assertThat(resources.resource(NAME)).isNull();
    }

    @Test
    @DisplayName("ends the hold of a thread that has died, and serves the next request")
    void ownerDied() {
        Request lives = entered(request(Thread.currentThread()));
        resource().checkOwners();
        assertThat(holdOf(lives).loss()).isNull();
        release(lives);

        Request dead = entered(request(alice));
        Request waits = entered(request(Thread.currentThread()));
        resource().checkOwners();
        assertThat(holdOf(dead).loss()).extracting(Loss::cause).isEqualTo(Loss.Cause.OWNER_DIED);
        assertThat(isGranted(waits)).isTrue();
        assertThat(resource().mayHaveLostHolds()).isFalse();
        release(waits);
    }

    @Test
    @DisplayName("ends the hold of a reader that has died, and not those of the others")
    void readerDied() {
        use(READ_WRITE);
        Request dead = entered(reader(alice));
        Request lives = entered(reader(Thread.currentThread()));
        resource().checkOwners();
        assertThat(holdOf(dead).loss()).extracting(Loss::cause).isEqualTo(Loss.Cause.OWNER_DIED);
        assertThat(holdOf(lives).loss()).isNull();
        assertThat(releases()).isEmpty();
        release(lives);
        world.advance(KEPT);
    }

    @Test
    @DisplayName("closes the lost hold of a thread that has died, and serves the next request")
    void ownerOfLostHoldDied() {
        Request dead = entered(request(alice));
        Request waits = entered(request(bob));
        lose(dead);
        LocalSynchronizer resource = resource();
        assertThat(resource.mayHaveLostHolds()).isTrue();
        resource.checkOwners();
        assertThat(resource.mayHaveLostHolds()).isFalse();
        assertThat(releases()).hasSize(1);
        assertThat(isGranted(waits)).isTrue();
        release(waits);
    }

    @Test
    @DisplayName("leaves the registry when the last of its grants or lost holds has ended")
    void unused() {
        Request dead = entered(request(alice));
        lose(dead);
        resource().checkOwners();
        assertThat(resources.resource(NAME)).isNull();

        use(READ_WRITE);
        Request first = entered(reader(alice));
        Request second = entered(reader(bob));
        release(first);
        release(second);
        lose(first);
        assertThat(resources.resource(NAME)).isNull();
        assertThat(releases()).hasSize(1);
        world.advance(KEPT);
    }

    @Test
    @DisplayName("knows the claims at the store that are its own, and no others")
    void knows() {
        Request holder = entered(request(alice));
        LocalSynchronizer resource = resource();
        Grant grant = holdOf(holder).grant();
        assertThat(resource.knows(grant.ref())).isTrue();
        assertThat(resource.claimOf(grant.ref())).isSameAs(grant.claim);
        release(holder);
        assertThat(resource.knows(grant.ref())).isFalse();
        assertThat(resource.claimOf(grant.ref())).isNull();
        assertThat(resource.holds()).isZero();
    }

    @Test
    @DisplayName("asks the store for a request that waits when an audit has found the grant lost")
    void lostInAudit() {
        Request holder = entered(request(alice));
        Request waits = entered(request(bob));
        world.advance(Duration.ofMillis(1));
        LocalSynchronizer resource = resource();
        long now = resource.now();
        resource.audit(new SessionUser.Audit(holdOf(holder).claim().session, new HashSet<>(), now, now));
        assertThat(holdOf(holder).loss()).extracting(Loss::cause).isEqualTo(Loss.Cause.REMOVED);
        assertThat(acquires()).hasSize(2);
        release(holder);
        assertThat(isGranted(waits)).isTrue();
        release(waits);
    }

    @Test
    @DisplayName("that is shut fails its requests, and loses its holds")
    void shut() {
        Request holder = entered(request(alice));
        Request waits = entered(request(bob));
        LocalSynchronizer resource = resource();
        resource.shut(IllegalStateException::new);
        assertThat(waits.failure()).isNotNull();
        assertThat(holdOf(holder).loss()).extracting(Loss::cause).isEqualTo(Loss.Cause.CLIENT_CLOSED);
        assertThat(resource.waiting()).isZero();
        release(holder);
    }
}
