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
import dev.holdfast.LockWaitTimeoutException;
import dev.holdfast.Loss;
import dev.holdfast.StoreUnavailableException;
import dev.holdfast.spi.Command.Acquire;
import dev.holdfast.spi.Command.Advance;
import dev.holdfast.spi.Command.CountDown;
import dev.holdfast.spi.Command.Inspect;
import dev.holdfast.spi.Command.OnResource;
import dev.holdfast.spi.Command.Release;
import dev.holdfast.spi.Command.SetCount;
import dev.holdfast.spi.Reply;
import dev.holdfast.spi.ResourceInfo;
import dev.holdfast.spi.ResourceName;
import dev.holdfast.spi.StoreException.Effect;
import dev.holdfast.spi.StoreException.Reason;
import dev.holdfast.verification.world.Actor;
import dev.holdfast.verification.world.Actor.Doing;
import dev.holdfast.verification.world.Eventually;
import dev.holdfast.verification.world.FaultyLink;
import dev.holdfast.verification.world.World;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import org.assertj.core.api.InstanceOfAssertFactories;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@DisplayName("A double barrier")
class DoubleBarrierTest {

    private static final int PARTIES = 3;
    private static final Duration TTL = Duration.ofSeconds(30);

    private final World world = World.still();
    private final List<Party> parties = new ArrayList<>();

    @AfterEach
    void close() {
        world.close();
    }

    /** A client with one thread at the barrier. */
    private final class Party {
        private final FaultyLink link = world.link();
        private final Holdfast holdfast;
        private final DistributedDoubleBarrier barrier;
        private final Actor actor;
        private Doing<BarrierMembership> entering;
        private volatile boolean wasInterrupted;

        Party(String name) {
            this(name, Duration.ofSeconds(10));
        }

        Party(String name, Duration storeTimeout) {
            holdfast = world.client(world.builder(name, link).storeTimeout(storeTimeout));
            barrier = holdfast.barrier("stage", PARTIES);
            actor = world.actor(name);
            parties.add(this);
        }

        Party comes() {
            entering = actor.start(() -> {
                try {
                    return barrier.enter();
                } finally {
                    wasInterrupted = Thread.interrupted();
                }
            });
            return this;
        }

        /** As {@link #comes}, but gives up after two seconds. */
        Doing<Optional<BarrierMembership>> tries() {
            return actor.start(() -> barrier.tryEnter(Duration.ofSeconds(2)));
        }

        Party hasPlace() {
            int place = places();
            comes();
            Eventually.holds("it has a place", () -> places() > place);
            return this;
        }

        /** Until it is mended it can't see who is there, and so not open. */
        Party isBlind() {
            link.fail(Inspect.class, Reason.UNAVAILABLE, Effect.NONE);
            return this;
        }

        boolean isInside() {
            return entering.isDone();
        }

        BarrierMembership membership() throws Exception {
            return entering.result();
        }

        Doing<Boolean> leaves() throws Exception {
            BarrierMembership membership = membership();
            return actor.start(() -> {
                membership.leave();
                return true;
            });
        }

        void die() {
            link.cut();
        }
    }

    private Party party(String name) {
        return new Party(name);
    }

    private int places() {
        return world.recordOf("stage").map(info -> info.holders().size()).orElse(0);
    }

    private List<String> holders() {
        return world.recordOf("stage").stream()
                .flatMap(info -> info.holders().stream())
                .map(ResourceInfo.Party::label)
                .toList();
    }

    /** Lets time pass, a little at a time, until something is so. */
    private void passesUntil(String what, BooleanSupplier condition) {
        Eventually.holds(what, () -> {
            world.advance(Duration.ofMillis(20));
            return condition.getAsBoolean();
        });
    }

    /** Lets time pass, a little at a time. */
    private void advance(Duration time) {
        for (long left = time.toMillis(); left > 0; left -= 50) {
            world.advance(Duration.ofMillis(Math.min(50, left)));
        }
    }

    private void allInside(Party... members) throws Exception {
        passesUntil("all are inside", () -> List.of(members).stream().allMatch(Party::isInside));
        for (Party member : members) {
            assertThat(member.membership().isInside()).isTrue();
            assertThat(member.membership().generation())
                    .isEqualTo(members[0].membership().generation());
        }
    }

    private static void canSee(Party... blind) {
        List.of(blind).forEach(party -> party.link.mend());
    }

    private void noneInside(Party... waiting) {
        advance(Duration.ofSeconds(3));
        assertThat(List.of(waiting)).noneMatch(Party::isInside);
    }

    private void allLeave(Party... members) throws Exception {
        List<Doing<Boolean>> leaving = new ArrayList<>();
        for (Party member : members) {
            leaving.add(member.leaves());
        }
        passesUntil("all have left", () -> leaving.stream().allMatch(Doing::isDone));
        for (Doing<Boolean> left : leaving) {
            assertThat(left.result()).isTrue();
        }
    }

    @Nested
    @DisplayName("opens")
    class Opening {

        @Test
        @Tag("H1")
        @DisplayName("when all parties are there, and not before, generation after generation")
        void generations() throws Exception {
            Party alice = party("alice");
            Party bob = party("bob");
            Party carol = party("carol");
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
        @Tag("H1")
        @DisplayName("for threads of one process as well, each of which has a place and a token of its own")
        void oneProcess() throws Exception {
            FaultyLink link = world.link();
            DistributedDoubleBarrier barrier = world.client("alice", link).barrier("stage", PARTIES);
            FaultyLink.HeldUp first = link.holdUpNext(Acquire.class);
            List<CompletableFuture<BarrierMembership>> entering = new ArrayList<>();
            for (int i = 0; i < 2 * PARTIES; i++) {
                entering.add(barrier.enterAsync().toCompletableFuture());
            }
            // All of them wait in the process for a place: tokens in stock for those behind would be of use to nobody.
            first.proceed();
            passesUntil("half of them are inside", () -> inside(entering).size() == PARTIES);

            List<CompletableFuture<Void>> leaving = new ArrayList<>();
            for (CompletableFuture<BarrierMembership> member : inside(entering)) {
                entering.remove(member);
                leaving.add(member.join().leaveAsync().toCompletableFuture());
                assertThat(world.recordOf("stage#opened").isPresent())
                        .as("what the store may forget")
                        .isEqualTo(leaving.size() < PARTIES);
            }

            passesUntil(
                    "all of them have left, though others got their places",
                    () -> leaving.stream().allMatch(CompletableFuture::isDone));
            passesUntil("the others are inside", () -> inside(entering).size() == PARTIES);
            assertThat(link.sent(Advance.class)).isEmpty();
            inside(entering).forEach(member -> member.join().close());
        }

        private List<CompletableFuture<BarrierMembership>> inside(List<CompletableFuture<BarrierMembership>> entering) {
            return entering.stream().filter(CompletableFuture::isDone).toList();
        }

        @Test
        @Tag("H1")
        @DisplayName("for one party alone, and without blocking")
        void alone() throws Exception {
            Party alice = party("alice");
            DistributedDoubleBarrier barrier = alice.holdfast.barrier("alone", 1);
            CompletableFuture<BarrierMembership> entering = barrier.enterAsync().toCompletableFuture();
            passesUntil("it is inside", entering::isDone);
            assertThat(entering.join().isInside()).isTrue();
            entering.join().close();
            assertThat(entering.join().isInside()).isFalse();
            assertThat(alice.actor.call(() -> barrier.tryEnter(Duration.ZERO)))
                    .hasValueSatisfying(BarrierMembership::close);
        }

        @Test
        @Tag("H1")
        @DisplayName("not for a party that comes while others are still inside, nor for one more than there are places")
        void lateComers() throws Exception {
            Party alice = party("alice").comes();
            Party bob = party("bob").comes();
            Party carol = party("carol").comes();
            allInside(alice, bob, carol);
            Party dave = party("dave").comes();
            noneInside(dave);
            assertThat(world.waitersOf("stage")).isZero();

            Doing<Boolean> aliceLeaves = alice.leaves();
            passesUntil("dave has the place", () -> holders().contains("dave"));
            // All places are taken, but not by parties that are entering.
            noneInside(dave);
            assertThat(places()).isEqualTo(PARTIES);

            Doing<Boolean> bobLeaves = bob.leaves();
            Party erin = party("erin").comes();
            noneInside(dave, erin);
            assertThat(aliceLeaves.isDone()).isFalse();
            Doing<Boolean> carolLeaves = carol.leaves();
            passesUntil(
                    "the first generation has left, though others have its places",
                    () -> aliceLeaves.isDone() && bobLeaves.isDone() && carolLeaves.isDone());
            noneInside(dave, erin);

            Party frank = party("frank").comes();
            allInside(dave, erin, frank);
            assertThat(dave.membership().generation())
                    .isGreaterThan(alice.membership().generation());
            allLeave(dave, erin, frank);
        }

        @Test
        @Tag("H1")
        @DisplayName(
                "not for a party that comes while others are inside, even if the store has forgotten all else meanwhile")
        void nothingIsForgotten() throws Exception {
            Party alice = party("alice").comes();
            Party bob = party("bob").comes();
            Party carol = party("carol").comes();
            allInside(alice, bob, carol);
            for (int i = 0; i < 70_000; i++) {
                world.ask(new CountDown(new ResourceName("other-" + i), 0, "forget", 1));
            }
            alice.membership().close();

            Party dave = party("dave").hasPlace();

            assertThat(places()).isEqualTo(PARTIES);
            noneInside(dave);
            allLeave(bob, carol);
            dave.actor.interrupt();
            passesUntil("dave has given up", dave::isInside);
        }
    }

    @Nested
    @DisplayName("lets go")
    class Leaving {

        @Test
        @Tag("H2")
        @DisplayName("when all have left; who does not wait for that leaves at once")
        void together() throws Exception {
            Party alice = party("alice").comes();
            Party bob = party("bob").comes();
            Party carol = party("carol").comes();
            allInside(alice, bob, carol);

            Doing<Boolean> aliceLeaves = alice.leaves();
            bob.membership().close();
            bob.membership().close();
            assertThat(bob.membership().isInside()).isFalse();
            advance(Duration.ofSeconds(3));
            assertThat(aliceLeaves.isDone()).isFalse();
            BarrierMembership carolIn = carol.membership();
            CompletableFuture<Void> carolLeaves = carolIn.leaveAsync().toCompletableFuture();

            passesUntil("all have left", () -> aliceLeaves.isDone() && carolLeaves.isDone());

            assertThat(aliceLeaves.result()).isTrue();
            assertThat(bob.actor.call(() -> bob.membership().leave(Duration.ZERO)))
                    .isTrue();
        }

        @Test
        @Tag("H2")
        @DisplayName(
                "of who has waited long enough for the others, or was interrupted: that party has left all the same")
        void impatient() throws Exception {
            Party alice = party("alice").comes();
            Party bob = party("bob").comes();
            Party carol = party("carol").comes();
            allInside(alice, bob, carol);
            BarrierMembership inside = alice.membership();
            Doing<Boolean> leaving = alice.actor.start(() -> inside.leave(Duration.ofSeconds(2)));
            passesUntil("the wait is over", leaving::isDone);
            assertThat(leaving.result()).isFalse();
            assertThat(places()).isEqualTo(2);

            Doing<Boolean> again = alice.leaves();
            Eventually.holds("it waits", () -> alice.actor.thread().getState() == Thread.State.WAITING);
            alice.actor.interrupt();
            assertThatThrownBy(again::result).isInstanceOf(InterruptedException.class);
            allLeave(bob, carol);
        }

        @Test
        @Tag("H2")
        @DisplayName("and says so if the store does not confirm that a party has left")
        void unconfirmed() throws Exception {
            Party alice = party("alice").comes();
            Party bob = party("bob").comes();
            Party carol = party("carol").comes();
            allInside(alice, bob, carol);
            alice.link.fail(Release.class, Reason.UNAVAILABLE, Effect.NONE);
            Doing<Boolean> leaving = alice.leaves();

            passesUntil("it is given up", leaving::isDone);

            assertThatThrownBy(leaving::result).isInstanceOf(StoreUnavailableException.class);
            alice.link.mend();
            allLeave(bob, carol);
        }
    }

    @Nested
    @DisplayName("after a crash")
    class Crash {

        @Test
        @Tag("H3")
        @DisplayName("does not count who has died before it opened")
        void beforeTheOpening() throws Exception {
            Party alice = party("alice").hasPlace();
            Party bob = party("bob").hasPlace();
            bob.die();
            advance(TTL);
            Party carol = party("carol").comes();
            noneInside(alice, carol);

            Party dave = party("dave").comes();

            allInside(alice, carol, dave);
            allLeave(alice, carol, dave);
        }

        @Test
        @Tag("H3")
        @DisplayName("does not wait for who has died inside")
        void inside() throws Exception {
            Party alice = party("alice").comes();
            Party bob = party("bob").comes();
            Party carol = party("carol").comes();
            allInside(alice, bob, carol);
            List<Loss> told = new CopyOnWriteArrayList<>();
            bob.membership().onLost(told::add);
            bob.die();
            Doing<Boolean> aliceLeaves = alice.leaves();
            Doing<Boolean> carolLeaves = carol.leaves();
            advance(Duration.ofSeconds(5));
            assertThat(aliceLeaves.isDone()).isFalse();

            advance(TTL);

            passesUntil("all who live have left", () -> aliceLeaves.isDone() && carolLeaves.isDone());
            assertThat(bob.membership().isInside()).isFalse();
            assertThat(told).singleElement().extracting(Loss::name).isEqualTo("stage");
            bob.link.mend();
            Doing<Boolean> bobLeaves = bob.leaves();
            passesUntil("bob learns it", bobLeaves::isDone);
            assertThatThrownBy(bobLeaves::result).isInstanceOf(LockLostException.class);
            bob.membership().close();
        }

        @Test
        @Tag("H3")
        @DisplayName("of the opener after it has opened, lets the others in")
        void afterTheOpening() throws Exception {
            Party alice = party("alice").isBlind().hasPlace();
            Party bob = party("bob").isBlind().hasPlace();
            Party carol = party("carol");
            FaultyLink.HeldUp opening = carol.link.holdUpNext(SetCount.class);
            carol.comes();
            opening.awaitCommand();
            opening.deliver();
            carol.die();
            canSee(alice, bob);

            allInside(alice, bob);

            Doing<Boolean> aliceLeaves = alice.leaves();
            Doing<Boolean> bobLeaves = bob.leaves();
            advance(TTL);
            passesUntil("all who live have left", () -> aliceLeaves.isDone() && bobLeaves.isDone());
        }

        @Test
        @Tag("H3")
        @DisplayName(
                "of the opener before it has opened, opens it only when one more has come, and its writing has no effect")
        void beforeTheWriting() throws Exception {
            Party alice = party("alice").isBlind().hasPlace();
            Party bob = party("bob").isBlind().hasPlace();
            Party carol = party("carol");
            FaultyLink.HeldUp opening = carol.link.holdUpNext(SetCount.class);
            carol.comes();
            opening.awaitCommand();
            carol.die();
            canSee(alice, bob);
            // All places are taken and nobody may open: the lock of the door is carol's as long as her session.
            noneInside(alice, bob);
            advance(TTL);
            noneInside(alice, bob);

            assertThat(opening.deliver()).isInstanceOf(Reply.SessionEnded.class);

            noneInside(alice, bob);
            Party dave = party("dave").comes();
            allInside(alice, bob, dave);
            allLeave(alice, bob, dave);
        }

        @Test
        @Tag("H3")
        @DisplayName("or without one: a writing whose answer is lost opens it once")
        void answerLost() throws Exception {
            Party alice = party("alice").isBlind().hasPlace();
            Party bob = party("bob").isBlind().hasPlace();
            Party carol = party("carol");
            carol.link.loseReplyToNext(SetCount.class);
            carol.comes();
            Eventually.holds(
                    "carol opens", () -> !carol.link.sent(SetCount.class).isEmpty());
            canSee(alice, bob);

            allInside(alice, bob, carol);

            allLeave(alice, bob, carol);
        }

        @Test
        @Tag("H3")
        @DisplayName("or without one: a writing that failed and may come later can't, once the lock is given back")
        void lateWriting() throws Exception {
            Party alice = party("alice").isBlind().hasPlace();
            Party bob = party("bob").isBlind().hasPlace();
            Party carol = party("carol");
            FaultyLink.HeldUp late = carol.link.holdUpNext(SetCount.class);
            carol.comes();
            late.awaitCommand();
            canSee(alice, bob);
            carol.link.fail(SetCount.class, Reason.UNAVAILABLE, Effect.NONE);
            alice.link.fail(SetCount.class, Reason.UNAVAILABLE, Effect.NONE);
            bob.link.fail(SetCount.class, Reason.UNAVAILABLE, Effect.NONE);
            late.fail(Reason.UNAVAILABLE, Effect.UNKNOWN);
            passesUntil(
                    "the lock is given back", () -> world.holderOf("stage#door").isEmpty());

            assertThat(late.deliver()).isInstanceOf(Reply.Stale.class);

            noneInside(alice, bob, carol);
            parties.forEach(party -> party.link.mend());
            allInside(alice, bob, carol);
            allLeave(alice, bob, carol);
        }
    }

    @Nested
    @DisplayName("for a party that gives up")
    class GivingUp {

        @Test
        @Tag("H4")
        @DisplayName("opens without it, for as many as are needed")
        void timesOut() throws Exception {
            Party alice = party("alice");
            Doing<Optional<BarrierMembership>> trying =
                    alice.actor.start(() -> alice.barrier.tryEnter(Duration.ofSeconds(2)));
            Eventually.holds("it has a place", () -> places() == 1);
            Party bob = party("bob").hasPlace();
            passesUntil("the wait is over", trying::isDone);
            assertThat(trying.result()).isEmpty();
            assertThat(places()).isEqualTo(1);
            Party carol = party("carol").comes();
            noneInside(bob, carol);

            alice.comes();

            allInside(alice, bob, carol);
            // There is no place any more: that is waited for no longer either.
            Party dave = party("dave");
            Doing<Optional<BarrierMembership>> noPlace =
                    dave.actor.start(() -> dave.barrier.tryEnter(Duration.ofSeconds(2)));
            passesUntil("the wait is over", noPlace::isDone);
            assertThat(noPlace.result()).isEmpty();
            assertThat(dave.actor.call(() -> dave.barrier.tryEnter(Duration.ZERO)))
                    .isEmpty();
            allLeave(alice, bob, carol);
        }

        @Test
        @Tag("H4")
        @DisplayName("has opened if it was opened before it gave up, and takes it in")
        void openedFirst() throws Exception {
            Party alice = party("alice").isBlind();
            Doing<Optional<BarrierMembership>> trying =
                    alice.actor.start(() -> alice.barrier.tryEnter(Duration.ofSeconds(2)));
            Party bob = party("bob").isBlind().comes();
            Eventually.holds("two are there", () -> places() == 2);
            Party carol = party("carol");
            FaultyLink.HeldUp opening = carol.link.holdUpNext(SetCount.class);
            carol.comes();
            opening.awaitCommand();
            advance(Duration.ofSeconds(3));
            assertThat(trying.isDone()).isFalse();

            canSee(alice, bob);
            opening.proceed();

            passesUntil("alice knows", trying::isDone);
            BarrierMembership inside = trying.result().orElseThrow();
            allInside(bob, carol);
            assertThat(inside.generation()).isEqualTo(carol.membership().generation());
            inside.close();
            allLeave(bob, carol);
        }

        @Test
        @Tag("H4")
        @DisplayName("has opened if it was counted before it knew of its place, and takes it in")
        void countedFirst() throws Exception {
            Party alice = party("alice");
            FaultyLink.HeldUp asking = alice.link.holdUpNext(Acquire.class);
            Doing<Optional<BarrierMembership>> trying =
                    alice.actor.start(() -> alice.barrier.tryEnter(Duration.ofSeconds(2)));
            Reply granted = asking.deliver();
            Party bob = party("bob").comes();
            Party carol = party("carol").comes();
            allInside(bob, carol);
            advance(Duration.ofSeconds(3));
            assertThat(trying.isDone()).isFalse();

            asking.answer(granted);

            passesUntil("alice knows", trying::isDone);
            BarrierMembership inside = trying.result().orElseThrow();
            assertThat(inside.generation()).isEqualTo(bob.membership().generation());
            inside.close();
            allLeave(bob, carol);
        }

        @Test
        @Tag("H4")
        @DisplayName("takes it in as well if who opened has died since, with the lock that giving up needs")
        void openedAndDied() throws Exception {
            Party alice = party("alice").isBlind();
            Doing<Optional<BarrierMembership>> trying =
                    alice.actor.start(() -> alice.barrier.tryEnter(Duration.ofSeconds(2)));
            Party bob = party("bob").isBlind().comes();
            Eventually.holds("two are there", () -> places() == 2);
            Party carol = party("carol");
            FaultyLink.HeldUp opening = carol.link.holdUpNext(SetCount.class);
            carol.comes();
            opening.awaitCommand();
            advance(Duration.ofSeconds(3));
            assertThat(world.waitersOf("stage#door")).isEqualTo(1);

            opening.deliver();
            carol.die();
            canSee(alice, bob);

            passesUntil("alice knows", trying::isDone);
            BarrierMembership inside = trying.result().orElseThrow();
            allInside(bob);
            assertThat(inside.generation()).isEqualTo(bob.membership().generation());
            inside.close();
            advance(TTL);
            allLeave(bob);
        }

        @Test
        @Tag("H4")
        @DisplayName("says so if who would open has died before: for the time of the lease nobody else can tell")
        void openerDied() throws Exception {
            Party alice = party("alice").isBlind();
            Doing<Optional<BarrierMembership>> trying =
                    alice.actor.start(() -> alice.barrier.tryEnter(Duration.ofSeconds(2)));
            Party bob = party("bob").isBlind().comes();
            Eventually.holds("two are there", () -> places() == 2);
            Party carol = party("carol");
            FaultyLink.HeldUp opening = carol.link.holdUpNext(SetCount.class);
            carol.comes();
            opening.awaitCommand();
            carol.die();
            canSee(alice, bob);

            passesUntil("alice has given up", trying::isDone);

            assertThatThrownBy(trying::result)
                    .isInstanceOf(LockWaitTimeoutException.class)
                    .satisfies(e -> assertThat(e.getSuppressed()).hasSize(1));
            advance(TTL);
            noneInside(bob);
            Party dave = party("dave").comes();
            noneInside(bob, dave);
            alice.comes();
            allInside(alice, bob, dave);
            allLeave(alice, bob, dave);
        }

        @Test
        @Tag("H3")
        @Tag("H4")
        @DisplayName("and was counted by one that takes long to open, keeps its place until it is open, and says so")
        void openerIsSlow() throws Exception {
            Party alice = party("alice").isBlind();
            Doing<Optional<BarrierMembership>> trying = alice.tries();
            Party bob = party("bob").isBlind().comes();
            Eventually.holds("two are there", () -> places() == 2);
            FaultyLink.HeldUp opening = slowOpener("carol");

            passesUntil("alice has given up", trying::isDone);

            assertThatThrownBy(trying::result)
                    .isInstanceOf(LockWaitTimeoutException.class)
                    .satisfies(e -> assertThat(e.getSuppressed())
                            .singleElement()
                            .asInstanceOf(InstanceOfAssertFactories.THROWABLE)
                            .hasMessageContaining("may still open with this party counted"));
            advance(TTL);
            assertThat(holders()).containsExactlyInAnyOrder("alice", "bob", "carol");
            Party dave = party("dave").comes();
            canSee(bob);
            opening.proceed();
            Party carol = parties.get(2);
            allInside(bob, carol);
            passesUntil("dave has alice's place", () -> holders().contains("dave"));
            assertThat(holders()).containsExactlyInAnyOrder("bob", "carol", "dave");
            noneInside(dave);
            Doing<Boolean> bobLeaves = bob.leaves();
            Doing<Boolean> carolLeaves = carol.leaves();
            passesUntil("all have left", () -> bobLeaves.isDone() && carolLeaves.isDone());
            dave.actor.interrupt();
            passesUntil("dave has given up", dave::isInside);
        }

        @Test
        @Tag("H4")
        @DisplayName("and can't know whether it was counted, gives its place back before another can open with it")
        void openerDiedAndAnotherComes() throws Exception {
            Party alice = party("alice").isBlind();
            Doing<Optional<BarrierMembership>> trying = alice.tries();
            Party bob = party("bob").isBlind().comes();
            Eventually.holds("two are there", () -> places() == 2);
            slowOpener("carol");
            Party carol = parties.get(2);
            passesUntil("alice has given up", trying::isDone);
            canSee(alice, bob);
            Party dave = party("dave").comes();
            Party erin = party("erin").comes();
            carol.die();

            passesUntil("all but alice and carol have places", () -> !holders().contains("alice") && places() == 3);

            allInside(bob, dave, erin);
            assertThat(alice.link.sent(Acquire.class).stream()
                            .filter(acquire -> acquire.resource().value().equals("stage#door")))
                    .as("requests for the lock")
                    .hasSize(1);
            allLeave(bob, dave, erin);
        }

        @Test
        @Tag("H4")
        @DisplayName("stops waiting for the opener when it has lost its place, or its client is closed")
        void placeIsLost() throws Exception {
            Party alice = party("alice").isBlind();
            Party bob = party("bob").isBlind();
            List<Doing<Optional<BarrierMembership>>> trying = List.of(alice.tries(), bob.tries());
            Eventually.holds("two are there", () -> places() == 2);
            FaultyLink.HeldUp opening = slowOpener("carol");
            passesUntil("they have given up", () -> trying.stream().allMatch(Doing::isDone));
            assertThat(world.waitersOf("stage#door")).isEqualTo(2);

            bob.holdfast.close();
            assertThat(world.waitersOf("stage#door")).isEqualTo(1);
            alice.die();
            advance(TTL.plus(TTL));
            canSee(alice);
            advance(TTL);

            assertThat(holders()).containsExactly("carol");
            assertThat(world.waitersOf("stage#door")).isZero();
            // Both have died, after all were there.
            opening.proceed();
            allInside(parties.get(2));
            allLeave(parties.get(2));
        }

        @Test
        @Tag("H4")
        @DisplayName("and can't have the lock for another reason, asks for it again")
        void lockRefused() throws Exception {
            Party alice = party("alice");
            alice.link.failFor(
                    command -> command instanceof Acquire acquire
                            && acquire.resource().value().equals("stage#door"),
                    Reason.DENIED,
                    Effect.NONE);
            Doing<Optional<BarrierMembership>> trying = alice.tries();
            passesUntil("alice has given up", trying::isDone);
            assertThatThrownBy(trying::result)
                    .isInstanceOf(LockWaitTimeoutException.class)
                    .satisfies(e -> assertThat(e.getSuppressed()).hasSize(2));
            alice.link.forget();
            advance(TTL.plus(TTL));
            assertThat(holders()).containsExactly("alice");
            assertThat(alice.link.sent(Acquire.class)).hasSizeBetween(2, 8);

            canSee(alice);

            passesUntil("alice has no place any more", () -> places() == 0);
            world.awaitIdle();
        }

        /** Comes last, counts all, and takes as long to open as the test wants. */
        private FaultyLink.HeldUp slowOpener(String name) {
            Party opener = new Party(name, Duration.ofDays(1));
            FaultyLink.HeldUp opening = opener.link.holdUpNext(SetCount.class);
            opener.comes();
            opening.awaitCommand();
            return opening;
        }

        @Test
        @Tag("H4")
        @DisplayName("is not opened by who comes while it gives up")
        void gaveUpFirst() throws Exception {
            Party alice = party("alice");
            FaultyLink.HeldUp release = alice.link.holdUpNext(Release.class);
            Doing<Optional<BarrierMembership>> trying =
                    alice.actor.start(() -> alice.barrier.tryEnter(Duration.ofSeconds(2)));
            Party bob = party("bob").comes();
            passesUntil("alice gives up", () -> !alice.link.sent(Release.class).isEmpty());
            Party carol = party("carol").comes();
            Eventually.holds("all places are taken", () -> places() == PARTIES);
            advance(Duration.ofSeconds(2));
            assertThat(bob.isInside()).isFalse();
            assertThat(carol.isInside()).isFalse();

            release.proceed();

            passesUntil("alice has given up", trying::isDone);
            assertThat(trying.result()).isEmpty();
            noneInside(bob, carol);
            alice.comes();
            allInside(alice, bob, carol);
            allLeave(alice, bob, carol);
        }

        @Test
        @Tag("H4")
        @DisplayName("at an interrupt or because its stage is cancelled, leaves nothing behind")
        void interrupted() throws Exception {
            Party alice = party("alice").hasPlace();
            Party bob = party("bob");
            CompletableFuture<BarrierMembership> stage =
                    bob.barrier.enterAsync().toCompletableFuture();
            Eventually.holds("both have places", () -> places() == 2);

            alice.actor.interrupt();
            stage.cancel(false);

            passesUntil("they have given up", () -> alice.isInside() && places() == 0);
            assertThatThrownBy(alice::membership).isInstanceOf(InterruptedException.class);
            assertThat(alice.actor.<Boolean>call(Thread::interrupted)).isFalse();
            world.awaitIdle();
            assertThatThrownBy(() -> alice.actor.call(() -> {
                        Thread.currentThread().interrupt();
                        return alice.barrier.enter();
                    }))
                    .isInstanceOf(InterruptedException.class);
        }

        @Test
        @Tag("H4")
        @DisplayName("at an interrupt after it was opened, takes it in, and the flag stays set")
        void interruptedTooLate() throws Exception {
            Party alice = party("alice").isBlind();
            Doing<Boolean> entering = alice.actor.start(() -> {
                try (BarrierMembership inside = alice.barrier.enter()) {
                    return Thread.currentThread().isInterrupted() && inside.isInside();
                }
            });
            Party bob = party("bob").isBlind().comes();
            Eventually.holds("two are there", () -> places() == 2);
            Party carol = party("carol");
            FaultyLink.HeldUp opening = carol.link.holdUpNext(SetCount.class);
            carol.comes();
            opening.awaitCommand();
            alice.actor.interrupt();
            advance(Duration.ofSeconds(1));

            canSee(alice, bob);
            opening.proceed();

            passesUntil("alice knows", entering::isDone);
            assertThat(entering.result()).isTrue();
            allInside(bob, carol);
            allLeave(bob, carol);
        }

        @Test
        @Tag("H4")
        @DisplayName("because the store does not answer, says so")
        void storeSilent() throws Exception {
            Party alice = party("alice").hasPlace();
            alice.link.fail(CountDown.class, Reason.UNAVAILABLE, Effect.NONE);
            alice.link.fail(Inspect.class, Reason.UNAVAILABLE, Effect.NONE);

            alice.link.forget();
            passesUntil("it asks", () -> !alice.link.sent(CountDown.class).isEmpty());
            advance(Duration.ofSeconds(11));
            // Too late to be the reason: it stays pending.
            alice.actor.interrupt();

            passesUntil("it gives up", alice::isInside);

            assertThatThrownBy(alice::membership).isInstanceOf(StoreUnavailableException.class);
            assertThat(alice.wasInterrupted).isTrue();
            alice.link.mend();
            passesUntil("its place is free", () -> places() == 0);
        }
    }

    @Nested
    @DisplayName("refuses")
    class BadInput {

        @Test
        @Tag("H5")
        @DisplayName("odd input, before anything is asked")
        void oddInput() {
            Party alice = party("alice");
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
        @Tag("H5")
        @DisplayName("another number of parties while somebody is there, and a name that is used otherwise")
        void mismatch() throws Exception {
            Party alice = party("alice").hasPlace();
            Party bob = party("bob");
            assertThatThrownBy(() -> bob.actor.call(
                            () -> bob.holdfast.barrier("stage", PARTIES + 1).enter()))
                    .isInstanceOf(LockMismatchException.class);
            assertThatThrownBy(() ->
                            bob.actor.call(() -> bob.holdfast.lock("stage").acquire()))
                    .isInstanceOf(LockMismatchException.class);
            assertThat(alice.isInside()).isFalse();
            alice.actor.interrupt();
            passesUntil("alice has given up", alice::isInside);
        }

        @Test
        @Tag("H5")
        @DisplayName("names of its own that are used otherwise, as soon as it needs them")
        void misusedNames() throws Exception {
            Party alice = party("alice");
            for (String mark : List.of("#opened", "#door")) {
                DistributedDoubleBarrier barrier = alice.holdfast.barrier("misused" + mark.length(), 1);
                Hold other = alice.holdfast.semaphore(barrier.name() + mark, 2).acquire(1);
                Doing<BarrierMembership> entering = alice.actor.start(barrier::enter);
                passesUntil("it is refused", entering::isDone);
                assertThatThrownBy(entering::result).isInstanceOf(LockMismatchException.class);
                assertThat(world.recordOf(barrier.name())).isEmpty();
                other.close();
            }
        }

        @Test
        @Tag("H5")
        @DisplayName("a client that is closed, before or meanwhile")
        void closed() throws Exception {
            Party alice = party("alice").hasPlace();
            CompletableFuture<BarrierMembership> stage =
                    alice.barrier.enterAsync().toCompletableFuture();
            Eventually.holds("both have places", () -> places() == 2);
            Party bob = party("bob").comes();
            passesUntil("all are inside", () -> alice.isInside() && stage.isDone() && bob.isInside());
            alice.membership().close();
            CompletableFuture<Void> leaving = stage.join().leaveAsync().toCompletableFuture();
            Doing<BarrierMembership> again = alice.actor.start(() -> alice.barrier.enter());
            Eventually.holds("it has a place again", () -> places() == 2);

            alice.holdfast.close();

            assertThatThrownBy(again::result).isInstanceOf(ClientClosedException.class);
            passesUntil("leaving ends", leaving::isDone);
            assertThatThrownBy(leaving::join).hasCauseInstanceOf(ClientClosedException.class);
            assertThatThrownBy(() -> alice.barrier.enter()).isInstanceOf(ClientClosedException.class);
            assertThatThrownBy(() -> alice.holdfast.barrier("b", 1)).isInstanceOf(ClientClosedException.class);
            bob.membership().close();
        }

        @Test
        @Tag("H5")
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
            // Of so many names the last ends after the place.
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
        Party alice = party("alice").isBlind().hasPlace();
        Party bob = party("bob").isBlind().hasPlace();
        Party carol = party("carol").comes();
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
