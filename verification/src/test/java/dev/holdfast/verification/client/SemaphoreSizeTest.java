package dev.holdfast.verification.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.AcquireOptions;
import dev.holdfast.ClientClosedException;
import dev.holdfast.DistributedSemaphore;
import dev.holdfast.Holdfast;
import dev.holdfast.LockMismatchException;
import dev.holdfast.LockOptions;
import dev.holdfast.Permits;
import dev.holdfast.StoreRefusedException;
import dev.holdfast.StoreUnavailableException;
import dev.holdfast.spi.Command;
import dev.holdfast.spi.Refusal;
import dev.holdfast.spi.Reply;
import dev.holdfast.spi.StoreException.Effect;
import dev.holdfast.spi.StoreException.Reason;
import dev.holdfast.verification.world.Actor.Doing;
import dev.holdfast.verification.world.Eventually;
import dev.holdfast.verification.world.FaultyLink;
import dev.holdfast.verification.world.HolderThread;
import dev.holdfast.verification.world.World;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@DisplayName("How many permits there are")
class SemaphoreSizeTest {

    @AutoClose
    private final World world = World.still();

    private final FaultyLink link = world.link();
    private final Holdfast alice = world.client("alice", link);
    private final DistributedSemaphore here = alice.semaphore("gpu", 10);
    private final DistributedSemaphore there = world.client("bob").semaphore("gpu", 10);

    private HolderThread<Permits> waiting(String name, DistributedSemaphore semaphore, int permits) {
        return HolderThread.waiting(world, name, () -> semaphore.acquire(permits));
    }

    @Test
    @DisplayName("is declared, and what is free is what nobody holds anywhere")
    @Tag("P4")
    void available() throws Exception {
        assertThat(here.permits()).isEqualTo(10);
        assertThat(here.availablePermits()).isEqualTo(10);
        Permits three = here.acquire(3);
        Permits four = there.acquire(4);
        assertThat(here.availablePermits()).isEqualTo(3);
        assertThat(there.availablePermits()).isEqualTo(3);
        three.close();
        assertThat(there.availablePermits()).isEqualTo(6);
        four.close();
        assertThat(there.availablePermits()).isEqualTo(10);
        assertThat(there.permits()).isEqualTo(10);
    }

    @Test
    @DisplayName(
            "another declaration is refused by each call that asks how many are free, also when there are more by now")
    @Tag("P6")
    void otherDeclaration() throws Exception {
        DistributedSemaphore other = alice.semaphore("gpu", 20);
        assertThat(other.availablePermits()).as("nobody holds").isEqualTo(20);
        Permits one = there.acquire();
        assertThatThrownBy(other::availablePermits)
                .isInstanceOf(LockMismatchException.class)
                .hasMessageContaining("10");
        assertThatThrownBy(other::drainPermits).isInstanceOf(LockMismatchException.class);
        assertThatThrownBy(alice.semaphore("gpu", 10, LockOptions.barging())::availablePermits)
                .isInstanceOf(LockMismatchException.class);

        here.resize(20);
        assertThatThrownBy(other::availablePermits).isInstanceOf(LockMismatchException.class);
        assertThat(here.availablePermits()).isEqualTo(19);
        one.close();
    }

    @Test
    @DisplayName("more wake those who wait, at once, here and there")
    @Tag("P4")
    void growing() throws Exception {
        Permits all = here.acquire(10);
        HolderThread<Permits> waiterHere = waiting("here", here, 2);
        HolderThread<Permits> waiterThere = waiting("there", there, 3);
        HolderThread<Permits> behind = waiting("behind", here, 4);

        assertThat(there.resize(15)).isTrue();

        assertThat(waiterHere.awaitGrant().isHeld()).isTrue();
        assertThat(waiterThere.awaitGrant().isHeld()).isTrue();
        assertThat(behind.isWaiting()).isTrue();
        assertThat(here.availablePermits()).isZero();
        here.resize(100);
        behind.release();
        assertThat(here.availablePermits()).isEqualTo(85);
        waiterHere.release();
        waiterThere.release();
        all.close();
    }

    @Test
    @DisplayName("fewer let holders finish, and nobody in before enough have")
    @Tag("P4")
    void shrinking() throws Exception {
        Permits six = here.acquire(6);
        Permits four = there.acquire(4);
        here.resize(5);

        assertThat(six.isHeld() && four.isHeld()).isTrue();
        assertThat(here.availablePermits()).isZero();
        HolderThread<Permits> next = waiting("next", there, 2);
        four.close();
        assertThat(next.isWaiting()).isTrue();
        six.close();
        assertThat(next.awaitGrant().isHeld()).isTrue();
        assertThat(here.availablePermits()).isEqualTo(3);
        next.release();
    }

    @Test
    @DisplayName("who asks for more than there will ever be is told so, and nobody else is")
    @Tag("P4")
    void tooHeavy() throws Exception {
        Permits all = here.acquire(10);
        CompletableFuture<Permits> tooMany =
                here.acquireAsync(8, AcquireOptions.defaults()).toCompletableFuture();
        HolderThread<Permits> modest = waiting("modest", here, 3);
        CompletableFuture<Permits> alsoTooMany =
                here.acquireAsync(9, AcquireOptions.defaults()).toCompletableFuture();
        CompletableFuture<Permits> theirs =
                there.acquireAsync(6, AcquireOptions.defaults()).toCompletableFuture();

        there.resize(5);
        all.close();

        assertMismatch(tooMany);
        assertMismatch(alsoTooMany);
        assertMismatch(theirs);
        assertThat(modest.awaitGrant().permits()).isEqualTo(3);
        assertThatThrownBy(() -> here.acquire(6)).isInstanceOf(LockMismatchException.class);
        assertThatThrownBy(() -> here.tryAcquire(6)).isInstanceOf(LockMismatchException.class);
        modest.release();
    }

    private static void assertMismatch(CompletableFuture<Permits> request) {
        assertThatThrownBy(() -> request.get(60, TimeUnit.SECONDS))
                .isInstanceOf(ExecutionException.class)
                .cause()
                .isInstanceOf(LockMismatchException.class)
                .hasMessageContaining("gpu")
                .hasMessageContaining("5");
    }

    @Test
    @DisplayName("changes for as long as anybody holds or waits; then what is declared counts again")
    @Tag("P4")
    void lastsWhileInUse() throws Exception {
        assertThat(here.resize(3)).as("nothing to change").isFalse();
        assertThat(here.availablePermits()).isEqualTo(10);
        Permits one = here.acquire();
        assertThat(here.resize(3)).isTrue();
        assertThat(there.availablePermits()).isEqualTo(2);
        one.close();
        assertThat(there.availablePermits()).isEqualTo(10);
        there.acquire(10).close();
    }

    @Test
    @DisplayName("what the store does not answer is an error, and nothing is made up")
    @Tag("P4")
    void unavailable() throws Exception {
        Permits one = here.acquire();
        link.fail(Command.Inspect.class, Reason.UNAVAILABLE, Effect.NONE);
        link.fail(Command.Resize.class, Reason.UNAVAILABLE, Effect.NONE);
        link.fail(Command.Release.class, Reason.UNAVAILABLE, Effect.NONE);
        String id = one.permitId();
        List<Callable<?>> calls =
                List.of(here::availablePermits, here::drainPermits, () -> here.resize(3), () -> here.release(id));
        List<Doing<?>> doings = new ArrayList<>();
        for (Callable<?> call : calls) {
            doings.add(world.actor("caller-" + doings.size()).start(call));
        }
        for (Doing<?> doing : doings) {
            world.advanceUntil("it fails", doing::isDone);
            assertThatThrownBy(doing::result).isInstanceOf(StoreUnavailableException.class);
        }
        link.mend();
        assertThat(one.isHeld()).isTrue();
        one.close();
    }

    private Doing<Boolean> resizing() {
        return world.actor("resizing").start(() -> here.resize(3));
    }

    @Test
    @DisplayName("is changed under the next session if the one that asked has ended")
    @Tag("P4")
    void resizedInTheNextSession() throws Exception {
        Permits one = there.acquire();
        link.forget();
        link.answerNext(Command.Resize.class, new Reply.SessionEnded());

        Doing<Boolean> resizing = resizing();
        world.advanceUntil("it is answered", resizing::isDone);

        assertThat(resizing.result()).isTrue();
        assertThat(link.sent(Command.OpenSession.class)).hasSize(1);
        assertThat(link.sent(Command.Resize.class))
                .extracting(Command.Resize::session)
                .doesNotHaveDuplicates()
                .hasSize(2);
        one.close();
    }

    @Test
    @DisplayName("is changed under a greater epoch if the first request had an older one, or may still arrive")
    @Tag("P4")
    void resizedAfterRaise() throws Exception {
        Permits one = there.acquire();
        for (int i = 0; i < 2; i++) {
            link.forget();
            if (i == 0) {
                link.answerNext(Command.Resize.class, new Reply.Stale());
            } else {
                link.failNext(Command.Resize.class, Reason.UNAVAILABLE, Effect.UNKNOWN);
            }

            Doing<Boolean> resizing = resizing();
            world.advanceUntil("it is answered", resizing::isDone);

            assertThat(resizing.result()).isTrue();
            List<Command.Resize> sent = link.sent(Command.Resize.class);
            assertThat(sent).hasSize(2);
            assertThat(sent.get(1).epoch()).isGreaterThan(sent.get(0).epoch());
        }
        one.close();
    }

    @Test
    @DisplayName("is changed under the next session if its own ends before the greater epoch is acknowledged")
    @Tag("P4")
    void resizedAfterRaiseUnderEndedSession() throws Exception {
        Permits one = there.acquire();
        link.forget();
        link.answerNext(Command.Resize.class, new Reply.Stale());
        FaultyLink.HeldUp raise = link.holdUpNext(Command.KeepAlive.class);
        Doing<Boolean> resizing = resizing();
        raise.awaitCommand();

        raise.answer(new Reply.SessionEnded());
        world.advanceUntil("it is answered", resizing::isDone);

        assertThat(resizing.result()).isTrue();
        assertThat(link.sent(Command.Resize.class))
                .extracting(Command.Resize::session)
                .doesNotHaveDuplicates()
                .hasSize(2);
        one.close();
    }

    @Test
    @DisplayName("is not asked again of a store that refuses the change")
    @Tag("P4")
    void resizeDenied() throws Exception {
        link.failNext(Command.Resize.class, Reason.DENIED, Effect.NONE);

        Doing<Boolean> resizing = resizing();
        world.advanceUntil("it is refused", resizing::isDone);

        assertThatThrownBy(resizing::result).isInstanceOf(StoreRefusedException.class);
        assertThat(link.sent(Command.Resize.class)).hasSize(1);
    }

    @Test
    @DisplayName("is asked for no longer than the store time-out, with a session or without")
    @Tag("P4")
    void resizeEnds() throws Exception {
        for (int i = 0; i < 2; i++) {
            link.fail(Command.OpenSession.class, Reason.UNAVAILABLE, Effect.NONE);
            if (i == 0) {
                link.fail(Command.Resize.class, Reason.UNAVAILABLE, Effect.NONE);
            } else {
                link.answerNext(Command.Resize.class, new Reply.SessionEnded());
            }

            Doing<Boolean> resizing = resizing();
            Eventually.holds(
                    "it is under way", () -> !link.sent(Command.Resize.class).isEmpty());
            world.advance(Duration.ofSeconds(11));

            Eventually.holds("it fails", resizing::isDone);
            assertThat(link.sent(Command.Resize.class)).hasSizeLessThanOrEqualTo(40);
            assertThatThrownBy(resizing::result).isInstanceOf(StoreUnavailableException.class);
            link.mend();
            link.forget();
        }
    }

    @Test
    @DisplayName("is not waited for once the client is closed")
    @Tag("P4")
    void closedWhileResizing() throws Exception {
        link.fail(Command.Resize.class, Reason.UNAVAILABLE, Effect.NONE);
        Doing<Boolean> resizing = resizing();
        Eventually.holds(
                "it is under way", () -> !link.sent(Command.Resize.class).isEmpty());

        alice.close();

        Eventually.holds("it ends", resizing::isDone);
        assertThatThrownBy(resizing::result).isInstanceOf(ClientClosedException.class);
    }

    @Test
    @DisplayName("all that are free are drained in one hold, if nobody waits for them")
    @Tag("P4")
    void draining() throws Exception {
        Permits three = there.acquire(3);
        Permits drained = here.drainPermits().orElseThrow();
        assertThat(drained.permits()).isEqualTo(7);
        assertThat(here.drainPermits()).isEmpty();
        assertThat(there.drainPermits()).isEmpty();
        HolderThread<Permits> waiter = waiting("waiter", there, 9);
        three.close();
        assertThat(here.availablePermits()).isEqualTo(3);
        assertThat(here.drainPermits()).as("somebody waits").isEmpty();
        drained.close();
        waiter.release();

        here.drainPermits().orElseThrow().close();
    }

    @Test
    @DisplayName("draining a barging semaphore takes what is free past those who wait, as many as are declared")
    @Tag("P4")
    void drainingBarging() throws Exception {
        DistributedSemaphore one = alice.semaphore("bus", 10, LockOptions.barging());
        DistributedSemaphore two = world.client("carol").semaphore("bus", 10, LockOptions.barging());
        Permits three = one.acquire(3);
        HolderThread<Permits> waiter = waiting("waiter", two, 9);
        DistributedSemaphore third = world.client("dave").semaphore("bus", 10, LockOptions.barging());
        Permits drained = third.drainPermits().orElseThrow();
        assertThat(drained.permits()).isEqualTo(7);
        third.resize(50);
        waiter.awaitGrant();
        Permits most = third.drainPermits().orElseThrow();
        assertThat(most.permits()).isEqualTo(10);
        most.close();
        drained.close();
        three.close();
        waiter.release();
    }

    @Test
    @DisplayName("draining while others are faster ends")
    @Tag("P4")
    void drainingInVain() throws Exception {
        Permits nine = there.acquire(9);
        for (int i = 0; i < 100; i++) {
            link.answerNext(Command.Acquire.class, taken());
        }

        assertThat(here.drainPermits()).isEmpty();

        link.mend();
        assertThat(here.drainPermits().orElseThrow().permits()).isEqualTo(1);
        nine.close();
        alice.close();
        Eventually.holds("nothing is held", () -> there.availablePermits() == 10);
        world.advance(Duration.ofSeconds(1));
    }

    private static Reply taken() {
        return new Reply.Refused(Refusal.TAKEN, "another was faster");
    }
}
