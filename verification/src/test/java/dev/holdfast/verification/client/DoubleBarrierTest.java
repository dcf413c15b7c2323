package dev.holdfast.verification.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.BarrierMembership;
import dev.holdfast.ClientClosedException;
import dev.holdfast.DistributedDoubleBarrier;
import dev.holdfast.Environment;
import dev.holdfast.Hold;
import dev.holdfast.Holdfast;
import dev.holdfast.LockLostException;
import dev.holdfast.LockMismatchException;
import dev.holdfast.Loss;
import dev.holdfast.StoreUnavailableException;
import dev.holdfast.spi.Command.Acquire;
import dev.holdfast.spi.Command.Advance;
import dev.holdfast.spi.Command.CountDown;
import dev.holdfast.spi.Command.OnResource;
import dev.holdfast.spi.Command.Release;
import dev.holdfast.spi.Command.SetCount;
import dev.holdfast.spi.Reply;
import dev.holdfast.spi.ResourceName;
import dev.holdfast.spi.StoreException.Effect;
import dev.holdfast.spi.StoreException.Reason;
import dev.holdfast.verification.world.Actor.Doing;
import dev.holdfast.verification.world.Eventually;
import dev.holdfast.verification.world.FaultyLink;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@DisplayName("A double barrier")
class DoubleBarrierTest extends DoubleBarrierFixture {

    @Nested
    @DisplayName("opens")
    @Tag("H1")
    class Opening {

        @Test
        @DisplayName("when all parties are there, and not before, generation after generation")
        void generations() throws Exception {
            long before = 0;
            for (int i = 0; i < 3; i++) {
                alice.comes();
                bob.comes();
                noneInside(alice, bob);
                carol.comes();
                allInside(alice, bob, carol);
                assertThat(carol.membership().generation()).isGreaterThan(before);
                assertThat(carol.membership().name()).isEqualTo("stage");
                before = carol.membership().generation();
                allLeave(alice, bob, carol);
            }
        }

        @Test
        @DisplayName("for threads of one process as well, each of which has a place and a token of its own")
        void oneProcess() throws Exception {
            FaultyLink link = world.link();
            DistributedDoubleBarrier barrier = world.client("alice", link).barrier("stage", PARTIES);
            FaultyLink.HeldUp first = link.holdUpNext(Acquire.class);
            List<CompletableFuture<BarrierMembership>> entering = new ArrayList<>();
            for (int i = 0; i < 2 * PARTIES; i++) {
                entering.add(barrier.enterAsync().toCompletableFuture());
            }
            // All of them wait in the process for a place, so no tokens are kept for those behind.
            first.proceed();
            world.advanceUntil("half of them are inside", () -> inside(entering).size() == PARTIES);

            List<CompletableFuture<Void>> leaving = new ArrayList<>();
            for (CompletableFuture<BarrierMembership> member : inside(entering)) {
                entering.remove(member);
                leaving.add(member.join().leaveAsync().toCompletableFuture());
                assertThat(world.recordOf("stage#opened").isPresent())
                        .as("what the store may forget")
                        .isEqualTo(leaving.size() < PARTIES);
            }

            world.advanceUntil(
                    "all of them have left, though others got their places",
                    () -> leaving.stream().allMatch(CompletableFuture::isDone));
            world.advanceUntil("the others are inside", () -> inside(entering).size() == PARTIES);
            assertThat(link.sent(Advance.class)).isEmpty();
            inside(entering).forEach(member -> member.join().close());
        }

        private List<CompletableFuture<BarrierMembership>> inside(List<CompletableFuture<BarrierMembership>> entering) {
            return entering.stream().filter(CompletableFuture::isDone).toList();
        }

        @Test
        @DisplayName("for one party alone, and without blocking")
        void alone() throws Exception {
            DistributedDoubleBarrier barrier = alice.holdfast.barrier("alone", 1);
            CompletableFuture<BarrierMembership> entering = barrier.enterAsync().toCompletableFuture();
            world.advanceUntil("it is inside", entering::isDone);
            assertThat(entering.join().isInside()).isTrue();
            entering.join().close();
            assertThat(entering.join().isInside()).isFalse();
            assertThat(alice.actor.call(() -> barrier.tryEnter(Duration.ZERO)))
                    .hasValueSatisfying(BarrierMembership::close);
        }

        @Test
        @DisplayName("not for a party that comes while others are still inside, nor for one more than there are places")
        void lateComers() throws Exception {
            allEnter(alice, bob, carol);
            dave.comes();
            noneInside(dave);
            assertThat(world.waitersOf("stage")).isZero();

            Doing<Boolean> aliceLeaves = alice.leaves();
            world.advanceUntil("dave has the place", () -> holders().contains("dave"));
            // All places are taken, but not by parties that are entering.
            noneInside(dave);
            assertThat(places()).isEqualTo(PARTIES);

            Doing<Boolean> bobLeaves = bob.leaves();
            erin.comes();
            noneInside(dave, erin);
            assertThat(aliceLeaves.isDone()).isFalse();
            Doing<Boolean> carolLeaves = carol.leaves();
            world.advanceUntil(
                    "the first generation has left, though others have its places",
                    () -> aliceLeaves.isDone() && bobLeaves.isDone() && carolLeaves.isDone());
            noneInside(dave, erin);

            frank.comes();
            allInside(dave, erin, frank);
            assertThat(dave.membership().generation())
                    .isGreaterThan(alice.membership().generation());
            allLeave(dave, erin, frank);
        }

        @Test
        @DisplayName(
                "not for a party that comes while others are inside, even if the store has forgotten all else meanwhile")
        void nothingIsForgotten() throws Exception {
            allEnter(alice, bob, carol);
            for (int i = 0; i < 70_000; i++) {
                world.ask(new CountDown(new ResourceName("other-" + i), 0, "forget", 1));
            }
            alice.membership().close();

            dave.hasPlace();

            assertThat(places()).isEqualTo(PARTIES);
            noneInside(dave);
            allLeave(bob, carol);
            dave.actor.interrupt();
            world.advanceUntil("dave has given up", dave::isInside);
        }
    }

    @Nested
    @DisplayName("lets go")
    @Tag("H2")
    class Leaving {

        @Test
        @DisplayName("when all have left; who does not wait for that leaves at once")
        void together() throws Exception {
            allEnter(alice, bob, carol);

            Doing<Boolean> aliceLeaves = alice.leaves();
            bob.membership().close();
            bob.membership().close();
            assertThat(bob.membership().isInside()).isFalse();
            advance(Duration.ofSeconds(3));
            assertThat(aliceLeaves.isDone()).isFalse();
            BarrierMembership carolIn = carol.membership();
            CompletableFuture<Void> carolLeaves = carolIn.leaveAsync().toCompletableFuture();

            world.advanceUntil("all have left", () -> aliceLeaves.isDone() && carolLeaves.isDone());

            assertThat(aliceLeaves.result()).isTrue();
            assertThat(bob.actor.call(() -> bob.membership().leave(Duration.ZERO)))
                    .isTrue();
        }

        @Test
        @DisplayName(
                "of who has waited long enough for the others, or was interrupted: that party has left all the same")
        void impatient() throws Exception {
            allEnter(alice, bob, carol);
            BarrierMembership inside = alice.membership();
            Doing<Boolean> leaving = alice.actor.start(() -> inside.leave(Duration.ofSeconds(2)));
            world.advanceUntil("the wait is over", leaving::isDone);
            assertThat(leaving.result()).isFalse();
            assertThat(places()).isEqualTo(2);

            Doing<Boolean> again = alice.leaves();
            Eventually.holds("it waits", () -> alice.actor.thread().getState() == Thread.State.WAITING);
            alice.actor.interrupt();
            assertThatThrownBy(again::result).isInstanceOf(InterruptedException.class);
            allLeave(bob, carol);
        }

        @Test
        @DisplayName("and says so if the store does not confirm that a party has left")
        void unconfirmed() throws Exception {
            allEnter(alice, bob, carol);
            alice.link.fail(Release.class, Reason.UNAVAILABLE, Effect.NONE);
            Doing<Boolean> leaving = alice.leaves();

            world.advanceUntil("it is given up", leaving::isDone);

            assertThatThrownBy(leaving::result).isInstanceOf(StoreUnavailableException.class);
            alice.link.mend();
            allLeave(bob, carol);
        }
    }

    @Nested
    @DisplayName("after a crash")
    @Tag("H3")
    class Crash {

        @Test
        @DisplayName("does not count who has died before it opened")
        void beforeTheOpening() throws Exception {
            alice.hasPlace();
            bob.hasPlace();
            bob.die();
            advance(TTL);
            carol.comes();
            noneInside(alice, carol);

            dave.comes();

            allInside(alice, carol, dave);
            allLeave(alice, carol, dave);
        }

        @Test
        @DisplayName("does not wait for who has died inside")
        void inside() throws Exception {
            allEnter(alice, bob, carol);
            List<Loss> told = new CopyOnWriteArrayList<>();
            bob.membership().onLost(told::add);
            bob.die();
            Doing<Boolean> aliceLeaves = alice.leaves();
            Doing<Boolean> carolLeaves = carol.leaves();
            advance(Duration.ofSeconds(5));
            assertThat(aliceLeaves.isDone()).isFalse();

            advance(TTL);

            world.advanceUntil("all who live have left", () -> aliceLeaves.isDone() && carolLeaves.isDone());
            assertThat(bob.membership().isInside()).isFalse();
            assertThat(told).singleElement().extracting(Loss::name).isEqualTo("stage");
            bob.link.mend();
            Doing<Boolean> bobLeaves = bob.leaves();
            world.advanceUntil("bob learns it", bobLeaves::isDone);
            assertThatThrownBy(bobLeaves::result).isInstanceOf(LockLostException.class);
            bob.membership().close();
        }

        @Test
        @DisplayName("of the opener after it has opened, lets the others in")
        void afterTheOpening() throws Exception {
            haveBlindPlaces(alice, bob);
            FaultyLink.HeldUp opening = carol.opens();
            opening.deliver();
            carol.die();
            canSee(alice, bob);

            allInside(alice, bob);

            Doing<Boolean> aliceLeaves = alice.leaves();
            Doing<Boolean> bobLeaves = bob.leaves();
            advance(TTL);
            world.advanceUntil("all who live have left", () -> aliceLeaves.isDone() && bobLeaves.isDone());
        }

        @Test
        @DisplayName(
                "of the opener before it has opened, opens it only when one more has come, and its writing has no effect")
        void beforeTheWriting() throws Exception {
            haveBlindPlaces(alice, bob);
            FaultyLink.HeldUp opening = carol.opens();
            carol.die();
            canSee(alice, bob);
            // All places are taken and no client may open: carol has the lock of the door as long as her session.
            noneInside(alice, bob);
            advance(TTL);
            noneInside(alice, bob);

            assertThat(opening.deliver()).isInstanceOf(Reply.SessionEnded.class);

            noneInside(alice, bob);
            dave.comes();
            allInside(alice, bob, dave);
            allLeave(alice, bob, dave);
        }

        @Test
        @DisplayName("or without one: a writing whose answer is lost opens it once")
        void answerLost() throws Exception {
            haveBlindPlaces(alice, bob);
            carol.link.loseReplyToNext(SetCount.class);
            carol.comes();
            Eventually.holds(
                    "carol opens", () -> !carol.link.sent(SetCount.class).isEmpty());
            canSee(alice, bob);

            allInside(alice, bob, carol);

            allLeave(alice, bob, carol);
        }

        @Test
        @DisplayName("or without one: a writing that failed and may come later can't, once the lock is given back")
        void lateWriting() throws Exception {
            haveBlindPlaces(alice, bob);
            FaultyLink.HeldUp late = carol.opens();
            canSee(alice, bob);
            carol.link.fail(SetCount.class, Reason.UNAVAILABLE, Effect.NONE);
            alice.link.fail(SetCount.class, Reason.UNAVAILABLE, Effect.NONE);
            bob.link.fail(SetCount.class, Reason.UNAVAILABLE, Effect.NONE);
            late.fail(Reason.UNAVAILABLE, Effect.UNKNOWN);
            world.advanceUntil(
                    "the lock is given back", () -> world.holderOf("stage#door").isEmpty());

            assertThat(late.deliver()).isInstanceOf(Reply.Stale.class);

            noneInside(alice, bob, carol);
            parties.forEach(party -> party.link.mend());
            allInside(alice, bob, carol);
            allLeave(alice, bob, carol);
        }
    }

    @Nested
    @DisplayName("refuses")
    @Tag("H5")
    class BadInput {

        @Test
        @DisplayName("odd input, before anything is asked")
        void oddInput() {
            alice.link.forget();
            assertThatThrownBy(() -> alice.holdfast.barrier("stage", 0)).isInstanceOf(IllegalArgumentException.class);
            assertThatThrownBy(() -> alice.holdfast.barrier("stage", -1)).isInstanceOf(IllegalArgumentException.class);
            assertThatThrownBy(() -> alice.holdfast.barrier(" ", 2)).isInstanceOf(IllegalArgumentException.class);
            assertThatThrownBy(() -> alice.holdfast.barrier("x".repeat(506), 2))
                    .isInstanceOf(IllegalArgumentException.class);
            assertThat(alice.holdfast.barrier("x".repeat(505), 2).parties()).isEqualTo(2);
            assertThatThrownBy(() -> alice.barrier.tryEnter(Duration.ofNanos(-1)))
                    .isInstanceOf(IllegalArgumentException.class);
            assertThat(alice.link.sent(OnResource.class)).isEmpty();
        }

        @Test
        @DisplayName("another number of parties while somebody is there, and a name that is used otherwise")
        void mismatch() throws Exception {
            alice.hasPlace();
            assertThatThrownBy(() -> bob.actor.call(
                            () -> bob.holdfast.barrier("stage", PARTIES + 1).enter()))
                    .isInstanceOf(LockMismatchException.class);
            assertThatThrownBy(() ->
                            bob.actor.call(() -> bob.holdfast.lock("stage").acquire()))
                    .isInstanceOf(LockMismatchException.class);
            assertThat(alice.isInside()).isFalse();
            alice.actor.interrupt();
            world.advanceUntil("alice has given up", alice::isInside);
        }

        @Test
        @DisplayName("names of its own that are used otherwise, as soon as it needs them")
        void misusedNames() throws Exception {
            for (String mark : List.of("#opened", "#door")) {
                DistributedDoubleBarrier barrier = alice.holdfast.barrier("misused" + mark.length(), 1);
                Hold other = alice.holdfast.semaphore(barrier.name() + mark, 2).acquire(1);
                Doing<BarrierMembership> entering = alice.actor.start(barrier::enter);
                world.advanceUntil("it is refused", entering::isDone);
                assertThatThrownBy(entering::result).isInstanceOf(LockMismatchException.class);
                assertThat(world.recordOf(barrier.name())).isEmpty();
                other.close();
            }
        }

        @Test
        @DisplayName("a client that is closed, before or meanwhile")
        void closed() throws Exception {
            alice.hasPlace();
            CompletableFuture<BarrierMembership> stage =
                    alice.barrier.enterAsync().toCompletableFuture();
            Eventually.holds("both have places", () -> places() == 2);
            bob.comes();
            world.advanceUntil("all are inside", () -> alice.isInside() && stage.isDone() && bob.isInside());
            alice.membership().close();
            CompletableFuture<Void> leaving = stage.join().leaveAsync().toCompletableFuture();
            Doing<BarrierMembership> again = alice.actor.start(() -> alice.barrier.enter());
            Eventually.holds("it has a place again", () -> places() == 2);

            alice.holdfast.close();

            assertThatThrownBy(again::result).isInstanceOf(ClientClosedException.class);
            world.advanceUntil("leaving ends", leaving::isDone);
            assertThatThrownBy(leaving::join).hasCauseInstanceOf(ClientClosedException.class);
            assertThatThrownBy(() -> alice.barrier.enter()).isInstanceOf(ClientClosedException.class);
            assertThatThrownBy(() -> alice.holdfast.barrier("b", 1)).isInstanceOf(ClientClosedException.class);
            bob.membership().close();
        }

        @Test
        @DisplayName("a client that is closed, by its name also if it looks after its place has ended")
        void looksWhileClosed() throws Exception {
            Environment direct = (Environment) Proxy.newProxyInstance(
                    Environment.class.getClassLoader(),
                    new Class<?>[] {Environment.class},
                    (self, method, arguments) -> method.getName().equals("callbacks")
                            ? (Executor) Runnable::run
                            : method.invoke(world.time(), arguments));
            Holdfast holdfast = world.client(world.builder("alice").environment(direct));
            CompletableFuture<BarrierMembership> entering =
                    holdfast.barrier("stage", PARTIES).enterAsync().toCompletableFuture();
            assertThat(places()).isEqualTo(1);
            // With this many names, the last one ends after the place.
            AtomicInteger left = new AtomicInteger(100);
            for (int i = left.get(); i > 0; i--) {
                holdfast.lock("name-" + i).acquire().onLost(loss -> {
                    if (left.decrementAndGet() == 0) {
                        world.time().advance(Duration.ofSeconds(1));
                    }
                });
            }

            holdfast.close();

            assertThatThrownBy(entering::join).hasCauseInstanceOf(ClientClosedException.class);
        }
    }

    @Test
    @Tag("H1")
    @DisplayName("needs no more of the store than a place, a number and, for the last, a lock")
    void commands() throws Exception {
        haveBlindPlaces(alice, bob);
        carol.comes();
        Eventually.holds("the last opens at once", carol::isInside);
        canSee(alice, bob);
        allInside(alice, bob, carol);
        assertThat(parties.stream()
                        .flatMap(party -> party.link.sent(Acquire.class).stream())
                        .map(acquire -> acquire.resource().value())
                        .filter("stage#door"::equals))
                .hasSize(1);
        allLeave(alice, bob, carol);
    }
}
