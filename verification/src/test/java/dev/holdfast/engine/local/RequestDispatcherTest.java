package dev.holdfast.engine.local;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.LockOptions;
import dev.holdfast.Permits;
import dev.holdfast.ReleaseOutcome;
import dev.holdfast.engine.session.Claim;
import dev.holdfast.spi.Command;
import dev.holdfast.spi.Command.Waiting;
import dev.holdfast.spi.Reply;
import dev.holdfast.spi.ResourceSpec;
import dev.holdfast.spi.TokenBlock;
import dev.holdfast.verification.world.Eventually;
import dev.holdfast.verification.world.FaultyLink;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** Whom a resource serves in this process, what it asks of the store for the others, and how long it keeps a grant. */
@DisplayName("The dispatcher of a resource")
class RequestDispatcherTest extends ResourceFixture {

    private static final Duration TIMEOUT = Duration.ofSeconds(5);
    private static final Reply.Granted PASS = new Reply.Granted(new TokenBlock(201, 210), Optional.empty(), false);

    // ---- Admission

    @Test
    @DisplayName("serves no request once the resource has left the registry")
    void removed() {
        Request first = request(alice);
        LocalSynchronizer left = enter(first);
        release(first);
        Request next = request(bob);
        assertThat(left.enter(next)).isFalse();
        assertThat(next.isDone()).isFalse();
        assertThat(next.isQueued()).isFalse();

        assertThat(enter(next)).isNotSameAs(left);
        assertThat(isGranted(next)).isTrue();
        release(next);
        assertThat(resources.resource(NAME)).isNull();
    }

    @Test
    @DisplayName("refuses a try for a mutex behind a request without an answer")
    void tryBehindUnanswered() {
        FaultyLink.HeldUp acquire = holdUpAcquire();
        Request first = entered(request(alice));
        assertThat(first.isAskedFor()).isTrue();
        assertThat(isRefused(entered(trying(bob)))).isTrue();
        Request second = entered(request(carol));
        assertThat(second.isAskedFor()).isFalse();

        acquire.proceed();
        release(first);
        release(second);
    }

    @Test
    @DisplayName("lets a try for permits wait behind a request until the store has answered that")
    void tryBehindUnansweredPermits() throws Exception {
        use(SEATS);
        try (Permits theirs = world.client("bob").semaphore("ledger", 10).acquire(6)) {
            FaultyLink.HeldUp acquire = holdUpAcquire();
            Request first = entered(seats(5));
            Request tries = entered(seats(2, AcquireTerms.TRY));
            assertThat(tries.isQueued()).isTrue();

            acquire.proceed();
            assertThat(first.isDone()).isFalse();
            assertThat(first.isAskedFor()).isFalse();
            assertThat(isRefused(tries)).isTrue();
            assertThat(isRefused(entered(seats(2, AcquireTerms.TRY)))).isTrue();
            assertThat(acquires()).hasSize(1);
            theirs.close();
            release(first);
        }
    }

    @Test
    @DisplayName("asks the store for a try past a request that waits, if the permits are barging")
    void bargingTry() throws Exception {
        use(BARGING_SEATS);
        try (Permits theirs = world.client("bob")
                .semaphore("ledger", 10, LockOptions.barging())
                .acquire(6)) {
            Request first = entered(seats(5));
            Request tries = entered(seats(2, AcquireTerms.TRY));
            assertThat(isGranted(tries)).isTrue();
            assertThat(isRefused(entered(seats(7, AcquireTerms.TRY)))).isTrue();
            assertThat(acquires())
                    .extracting(Command.Acquire::waiting)
                    .containsExactly(Waiting.QUEUE, Waiting.TRY, Waiting.TRY);
            release(tries);
            theirs.close();
            release(first);
        }
    }

    @Test
    @DisplayName("gives a grant that is kept for readers back for a writer that tries, unless it is in use again")
    void tryBesideKeptGrant() {
        use(READ_WRITE);
        readTogether();
        assertThat(releases()).isEmpty();
        Request again = entered(reader(alice));
        assertThat(isGranted(again)).isTrue();
        Request refused = entered(trying(bob));
        assertThat(isRefused(refused)).isTrue();
        assertThat(refused.takenOrTimedOut()).hasMessageContaining("this client ('here')");
        assertThat(releases()).isEmpty();
        assertThat(resource().holds()).isEqualTo(1);

        release(again);
        Request writer = entered(trying(bob));
        assertThat(isGranted(writer)).isTrue();
        assertThat(releases()).hasSize(1);
        release(writer);
        world.advance(KEPT);
    }

    @Test
    @DisplayName("lets a try wait for the store when the grant that is kept for it is in doubt")
    void tryOfKeptGrantInDoubt() {
        use(READ_WRITE);
        readTogether();
        FaultyLink.HeldUp keepAlive = link.holdUpNext(Command.KeepAlive.class);
        world.time().stepWall(Duration.ofHours(1));
        Request tries = entered(request(Mode.owned(READ_WRITE, 1), carol, AcquireTerms.TRY));
        assertThat(tries.isDone()).isFalse();
        keepAlive.proceed();
        assertThat(isGranted(tries)).isTrue();
        assertThat(acquires()).hasSize(1);
        release(tries);
        world.advance(KEPT.multipliedBy(2));
    }

    /** Two readers share a grant and leave it, so that it is kept for the next. */
    private void readTogether() {
        Request first = entered(reader(alice));
        Request second = entered(reader(bob));
        release(first);
        release(second);
    }

    @Test
    @DisplayName("ends a request once, and no request that was granted")
    void endsOnce() {
        Request holder = entered(request(alice));
        LocalSynchronizer resource = resource();
        assertThat(resource.cancel(holder)).isFalse();
        assertThat(resource.fail(holder, IllegalStateException::new)).isFalse();
        assertThat(resource.holds()).isEqualTo(1);

        Request fails = entered(request(bob));
        Request leaves = entered(request(carol));
        assertThat(resource.waiting()).isEqualTo(2);
        assertThat(resource.fail(fails, IllegalStateException::new)).isTrue();
        assertThat(fails.isDone()).isTrue();
        assertThat(fails.failure()).isNotNull();
        assertThat(resource.fail(fails, IllegalStateException::new)).isFalse();
        assertThat(resource.cancel(leaves)).isTrue();
        assertThat(leaves.isDone()).isTrue();
        assertThat(resource.cancel(leaves)).isFalse();
        assertThat(resource.waiting()).isZero();
        release(holder);
    }

    @Test
    @DisplayName("asks for what the next request needs when the first one ends")
    void endedRequestMakesRoom() throws Exception {
        use(SEATS);
        try (Permits theirs = world.client("bob").semaphore("ledger", 10).acquire(6)) {
            Request heavy = entered(seats(8));
            Request light = entered(seats(3));
            assertThat(acquires()).extracting(Command.Acquire::weight).containsExactly(8);
            assertThat(resource().fail(heavy, IllegalStateException::new)).isTrue();
            assertThat(acquires()).extracting(Command.Acquire::weight).containsExactly(8, 3);
            assertThat(isGranted(light)).isTrue();

            Request cancelled = entered(seats(8));
            Request next = entered(seats(1));
            assertThat(resource().cancel(cancelled)).isTrue();
            assertThat(isGranted(next)).isTrue();
            release(light);
            release(next);
            theirs.close();
        }
        assertThat(resources.resource(NAME)).isNull();
    }

    @Test
    @DisplayName("lets an answer under way end a request whose time is up, and no request that had an answer")
    void overdue() throws Exception {
        FaultyLink.HeldUp acquire = holdUpAcquire();
        Request first = entered(request(alice));
        Request second = entered(request(bob));
        LocalSynchronizer resource = resource();
        assertThat(resource.isUnanswered(first)).isTrue();
        assertThat(resource.awaitAnswer(second, TIMEOUT)).isTrue();
        assertThat(resource.cancel(entered(request(carol)))).isTrue();
        assertThat(second.isDone()).isFalse();

        acquire.proceed();
        assertThat(isGranted(first)).isTrue();
        assertThat(second.isDone()).isTrue();
        assertThat(second.wasOverdue()).isTrue();
        assertThat(resource.awaitAnswer(second, TIMEOUT)).isFalse();
        Request third = entered(request(carol));
        assertThat(resource.isUnanswered(third)).isFalse();
        assertThat(resource.awaitAnswer(third, TIMEOUT)).isFalse();
        assertThat(third.wasOverdue()).isFalse();
        release(first);
        assertThat(isGranted(third)).isTrue();
        release(third);
    }

    // ---- Slices

    /** Hands a mutex over from Alice to Bob, whose slice it is; Carol waits. */
    private Request handOverToBob(Request ofCarol) {
        Request first = entered(request(alice));
        Request second = entered(request(bob));
        release(first);
        entered(ofCarol);
        return second;
    }

    @Test
    @DisplayName("serves the owner of a slice past the head of the queue, and no one else")
    void slice() {
        Request waits = request(carol);
        Request owner = handOverToBob(waits);
        assertThat(waits.isWatching()).isFalse();
        release(owner);
        assertThat(waits.isWatching()).isTrue();
        assertThat(waits.isDone()).isFalse();
        assertThat(isRefused(entered(trying(bob)))).isTrue();

        Request again = entered(request(bob));
        assertThat(isGranted(again)).isTrue();
        release(again);
        assertThat(waits.isDone()).isFalse();
        world.advance(SLICE);
        resource().poll(waits);
        assertThat(isGranted(waits)).isTrue();
        assertThat(waits.isWatching()).isFalse();
        release(waits);
        assertThat(releases()).hasSize(1);
    }

    @Test
    @DisplayName("gives a free barging lock to a try past the head of the queue, and a fair one to no try")
    void bargingTryInSlice() {
        use(BARGING_MUTEX);
        Request waits = request(carol);
        release(handOverToBob(waits));
        Request tries = entered(trying(alice));
        assertThat(isGranted(tries)).isTrue();
        assertThat(waits.isDone()).isFalse();
        release(tries);
        world.advance(SLICE);
        resource().poll(waits);
        release(waits);
    }

    @Test
    @DisplayName("lets the head of the queue take a lock that no one acquired between two polls, within a slice")
    void unusedSlice() {
        Request waits = request(carol);
        release(handOverToBob(waits));
        resource().poll(waits);
        assertThat(waits.isDone()).isFalse();
        assertThat(waits.isWatching()).isTrue();
        Request behind = entered(request(alice));
        resource().poll(behind);
        assertThat(waits.isWatching()).isTrue();

        resource().poll(waits);
        assertThat(isGranted(waits)).isTrue();
        assertThat(behind.isDone()).isFalse();
        release(waits);
        world.advance(SLICE);
        resource().poll(behind);
        release(behind);
    }

    @Test
    @DisplayName("lets the head of the queue rest once the next release hands over, and hands over then")
    void restsWhenSliceIsOver() {
        Request waits = request(carol);
        release(handOverToBob(waits));
        Request again = entered(request(bob));
        resource().poll(waits);
        assertThat(waits.isWatching()).isTrue();
        world.advance(SLICE);
        resource().poll(waits);
        assertThat(waits.isWatching()).isFalse();
        assertThat(waits.isDone()).isFalse();

        release(again);
        assertThat(isGranted(waits)).isTrue();
        release(waits);
    }

    @Test
    @DisplayName("hands over to a stage at once, though the slice is another's: nobody would poll for it")
    void sliceBeforeStage() {
        Request stage = request(Mode.unowned(ResourceSpec.MUTEX, 1), null, AcquireTerms.FOREVER);
        release(handOverToBob(stage));
        assertThat(isGranted(stage)).isTrue();
        release(stage);
    }

    @Test
    @DisplayName("wakes the thread at the head of the queue when it has to poll")
    void wakesToPoll() {
        Thread parked = new Thread(LockSupport::park, "parked");
        parked.setDaemon(true);
        parked.start();
        Request waits = request(parked);
        release(handOverToBob(waits));
        assertThat(waits.isWatching()).isTrue();
        Eventually.holds("the thread is awake", () -> !parked.isAlive());
        world.advance(SLICE);
        resource().poll(waits);
        release(waits);
    }

    // ---- Hand-over

    @Test
    @DisplayName("hands a mutex over to one request at a time, and a read-write lock to all readers before a writer")
    void together() {
        Request holder = entered(request(alice));
        Request second = entered(request(bob));
        Request third = entered(request(carol));
        assertThat(release(holder)).isCompletedWithValue(ReleaseOutcome.RELEASED);
        assertThat(isGranted(second)).isTrue();
        assertThat(third.isDone()).isFalse();
        world.advance(SLICE);
        release(second);
        assertThat(isGranted(third)).isTrue();
        release(third);

        use(READ_WRITE);
        Request writer = entered(request(alice));
        Request first = entered(reader(bob));
        Request other = entered(reader(carol));
        Request next = entered(request(new Thread("dave")));
        release(writer);
        assertThat(isGranted(first)).isTrue();
        assertThat(isGranted(other)).isTrue();
        assertThat(next.isDone()).isFalse();
        world.advance(SHARED_SLICE);
        release(first);
        assertThat(next.isDone()).isFalse();
        release(other);
        assertThat(isGranted(next)).isTrue();
        release(next);
        world.advance(KEPT);
    }

    @Test
    @DisplayName("hands a writer's grant over to all readers that wait, without asking the store")
    void allReadersAtOnce() {
        use(READ_WRITE);
        Request writer = entered(request(alice));
        Request first = entered(reader(bob));
        Request second = entered(reader(carol));
        link.cut();
        release(writer);
        assertThat(isGranted(first)).isTrue();
        assertThat(isGranted(second)).isTrue();
        link.mend();
        release(first);
        release(second);
        world.advance(KEPT.multipliedBy(2));
    }

    @Test
    @DisplayName("asks in strict order whether others wait at the store before it hands over")
    void strictOrder() {
        use(ResourceSpec.MUTEX, Duration.ZERO);
        Request holder = entered(request(alice));
        Request waits = entered(request(bob));
        link.forget();
        FaultyLink.HeldUp poll = link.holdUpNext(Command.Poll.class);
        release(holder);
        poll.awaitCommand();
        assertThat(waits.isDone()).isFalse();
        assertThat(releases()).isEmpty();
        poll.proceed();
        assertThat(isGranted(waits)).isTrue();
        release(waits);
    }

    // ---- Kept grants

    @Test
    @DisplayName("keeps a grant that readers shared, as long as more of them come")
    void kept() {
        use(READ_WRITE);
        readTogether();
        world.advance(KEPT.minusNanos(1));
        assertThat(releases()).isEmpty();
        release(entered(reader(carol)));
        world.advance(KEPT);
        assertThat(releases()).isEmpty();
        assertThat(acquires()).hasSize(1);
        world.advance(KEPT);
        assertThat(releases()).hasSize(1);
        assertThat(resources.resource(NAME)).isNull();
    }

    @Test
    @DisplayName("gives no grant back in which a reader is when the time is over, and keeps it again when that leaves")
    void keptInUse() {
        use(READ_WRITE);
        readTogether();
        Request reads = entered(reader(carol));
        world.advance(KEPT);
        assertThat(releases()).isEmpty();
        assertThat(resource().holds()).isEqualTo(1);
        release(reads);
        assertThat(releases()).isEmpty();
        world.advance(KEPT);
        assertThat(releases()).hasSize(1);
    }

    @Test
    @DisplayName("keeps no grant of a single reader or of a writer, and none without a budget")
    void notKept() {
        use(READ_WRITE);
        release(entered(reader(alice)));
        assertThat(releases()).hasSize(1);
        release(entered(request(alice)));
        assertThat(releases()).hasSize(2);

        use(READ_WRITE, Duration.ZERO);
        readTogether();
        assertThat(releases()).hasSize(1);
    }

    /** Hands permits over in memory, so that the grant has tokens for the next request; the store gives no others. */
    private Request handOverPermits() {
        use(SEATS);
        Request first = entered(seats(3));
        FaultyLink.HeldUp acquire = holdUpAcquire();
        Request second = entered(seats(3));
        acquire.answer(QUEUED);
        release(first);
        assertThat(isGranted(second)).isTrue();
        link.forget();
        return second;
    }

    @Test
    @DisplayName("gives a grant back that arrives when no request needs it any more")
    void grantNotNeeded() {
        Request holder = handOverPermits();
        FaultyLink.HeldUp acquire = holdUpAcquire();
        Request next = entered(seats(3));
        release(holder);
        assertThat(isGranted(next)).isTrue();
        assertThat(releases()).isEmpty();
        acquire.proceed();
        assertThat(releases()).hasSize(1);
        assertThat(resource().holds()).isEqualTo(1);
        release(next);
        assertThat(releases()).hasSize(2);
        assertThat(resources.resource(NAME)).isNull();
    }

    @Test
    @DisplayName("withdraws a claim that no request needs any more, some time later")
    void claimNotNeeded() {
        Request holder = handOverPermits();
        FaultyLink.HeldUp acquire = holdUpAcquire();
        Request next = entered(seats(3));
        acquire.answer(QUEUED);
        world.advance(KEPT);
        release(holder);
        assertThat(isGranted(next)).isTrue();
        world.advance(KEPT.minusNanos(1));
        assertThat(link.sent(Command.Withdraw.class)).isEmpty();
        world.advance(Duration.ofNanos(1));
        assertThat(link.sent(Command.Withdraw.class)).hasSize(1);
        release(next);
    }

    @Test
    @DisplayName("asks for another grant at once when the one that is kept has expired")
    void keptTooLong() {
        use(READ_WRITE);
        readTogether();
        world.time().suspend(Duration.ofMinutes(2));
        Request reads = entered(reader(carol));
        assertThat(isGranted(reads)).isTrue();
        assertThat(acquires()).hasSize(2);
        release(reads);
        world.advance(KEPT);
    }

    // ---- Room for other readers

    @Test
    @DisplayName("leaves room for readers elsewhere once readers have had a writer's grant for a budget")
    void room() {
        use(READ_WRITE);
        Request writer = entered(request(alice));
        Request first = entered(reader(bob));
        assertThat(first.isDone()).isFalse();
        release(writer);
        assertThat(isGranted(first)).isTrue();
        assertThat(holdOf(first).claim().weight()).isEqualTo(Integer.MAX_VALUE);
        Request second = entered(reader(carol));
        world.advance(BUDGET.minusNanos(1));
        assertThat(link.sent(Command.ShrinkTo.class)).isEmpty();
        world.advance(Duration.ofNanos(1));
        assertThat(link.sent(Command.ShrinkTo.class))
                .as("one came since the check was scheduled")
                .isEmpty();
        world.advance(BUDGET);
        assertThat(link.sent(Command.ShrinkTo.class)).hasSize(1);
        assertThat(holdOf(first).claim().weight()).isEqualTo(1);
        release(first);
        release(second);
        world.advance(KEPT);
    }

    @Test
    @DisplayName("leaves room for readers elsewhere, however long a writer had the grant before them")
    void roomAfterLongWrite() {
        use(READ_WRITE);
        Request writer = entered(request(alice));
        world.advance(BUDGET.multipliedBy(2));
        Request reads = entered(reader(bob));
        release(writer);
        assertThat(isGranted(reads)).isTrue();
        world.advance(BUDGET);
        assertThat(link.sent(Command.ShrinkTo.class)).hasSize(1);
        release(reads);
    }

    @Test
    @DisplayName("leaves a writer its grant, though readers had it when the check was scheduled")
    void noRoomBesideWriter() {
        use(READ_WRITE);
        Request writer = entered(request(alice));
        Request reads = entered(reader(bob));
        release(writer);
        Request again = entered(request(alice));
        assertThat(again.isDone()).isFalse();
        world.advance(SHARED_SLICE);
        assertThat(again.isDone()).isFalse();
        release(reads);
        assertThat(isGranted(again)).isTrue();
        world.advance(BUDGET.multipliedBy(2));
        assertThat(link.sent(Command.ShrinkTo.class)).isEmpty();
        assertThat(holdOf(again).claim().weight()).isEqualTo(Integer.MAX_VALUE);
        release(again);
    }

    @Test
    @DisplayName("lets no more readers in once the budget is spent and others wait, though no reader has left")
    void spentByReaders() {
        use(READ_WRITE);
        FaultyLink.HeldUp acquire = holdUpAcquire();
        Request first = entered(reader(alice));
        acquire.answer(ClaimsFixture.GRANTED_AWAITED);
        assertThat(isGranted(first)).isTrue();
        world.advance(BUDGET);
        Request second = entered(reader(bob));
        assertThat(second.isDone()).isFalse();
        release(first);
        assertThat(link.sent(Command.Yield.class)).hasSize(1);
        assertThat(isGranted(second)).isTrue();
        release(second);
        world.advance(KEPT);
    }

    // ---- Passes

    @Test
    @DisplayName("asks the store for a try that passes a latch, whoever waits, and ends it when it has to wait")
    void passes() {
        ResourceSpec latch = ClaimsFixture.LATCH;
        use(latch);
        FaultyLink.HeldUp acquire = holdUpAcquire();
        Request waits = entered(request(Mode.unowned(latch, 0), null, AcquireTerms.FOREVER));
        acquire.answer(QUEUED);
        FaultyLink.HeldUp poll = link.holdUpNext(Command.Poll.class);
        Request tries = entered(request(Mode.unowned(latch, 0), null, AcquireTerms.TRY));
        assertThat(tries.isDone()).isFalse();
        poll.answer(new Reply.Polled(List.of(QUEUED)));
        assertThat(isRefused(tries)).isTrue();
        assertThat(waits.isDone()).isFalse();
        assertThat(resource().cancel(waits)).isTrue();
    }

    private Request passing() {
        return request(Mode.unowned(ClaimsFixture.LATCH, 0), null, AcquireTerms.FOREVER);
    }

    @Test
    @DisplayName("gives a pass back that is too old for the request that waits")
    void passTooOld() {
        use(ClaimsFixture.LATCH);
        FaultyLink.HeldUp acquire = holdUpAcquire();
        Request first = entered(passing());
        Request later = entered(passing());
        FaultyLink.HeldUp next = holdUpAcquire();
        acquire.answer(ClaimsFixture.GRANTED);
        assertThat(isGranted(first)).isTrue();
        next.answer(QUEUED);
        release(first);
        assertThat(later.isDone()).isFalse();
        assertThat(releases())
                .extracting(Command.Release::claim)
                .containsExactly(holdOf(first).claim().ref());
        assertThat(resource().cancel(later)).isTrue();
    }

    @Test
    @DisplayName("keeps a pass while the store is asked whether it is for the request that waits too")
    void passKept() {
        use(ClaimsFixture.LATCH);
        FaultyLink.HeldUp acquire = holdUpAcquire();
        Request first = entered(passing());
        acquire.answer(QUEUED);
        FaultyLink.HeldUp poll = link.holdUpNext(Command.Poll.class);
        Request later = entered(passing());
        poll.awaitCommand();
        FaultyLink.HeldUp next = holdUpAcquire();
        LocalSynchronizer resource = resource();
        Claim claim = resource.claimOf(acquires().get(0).claim());
        resource.step(deferred -> resource.granted(claim, ClaimsFixture.GRANTED, resource.now(), deferred));
        assertThat(isGranted(first)).isTrue();
        next.answer(QUEUED);
        release(first);
        assertThat(releases()).isEmpty();
        assertThat(later.isDone()).isFalse();

        poll.answer(new Reply.Polled(List.of(QUEUED)));
        assertThat(isGranted(later)).isTrue();
        release(later);
        assertThat(releases()).hasSize(1);
    }

    @Test
    @DisplayName("passes no request under an older pass, though no one waited in between")
    void passOfOthers() {
        use(ClaimsFixture.LATCH);
        List<Request> passed = new ArrayList<>();
        for (Reply.Granted granted : List.of(ClaimsFixture.GRANTED, PASS)) {
            FaultyLink.HeldUp acquire = holdUpAcquire();
            passed.add(entered(passing()));
            acquire.answer(granted);
        }
        assertThat(passed).allMatch(ResourceFixture::isGranted);
        FaultyLink.HeldUp acquire = holdUpAcquire();
        Request waits = entered(passing());
        acquire.answer(QUEUED);
        passed.forEach(this::release);
        assertThat(waits.isDone()).isFalse();
        assertThat(releases()).hasSize(2);
        assertThat(resource().cancel(waits)).isTrue();
    }
}
