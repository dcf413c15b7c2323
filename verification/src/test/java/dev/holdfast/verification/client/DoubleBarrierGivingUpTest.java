package dev.holdfast.verification.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.BarrierMembership;
import dev.holdfast.LockWaitTimeoutException;
import dev.holdfast.StoreUnavailableException;
import dev.holdfast.spi.Command;
import dev.holdfast.spi.Command.Acquire;
import dev.holdfast.spi.Command.CountDown;
import dev.holdfast.spi.Command.Inspect;
import dev.holdfast.spi.Command.Release;
import dev.holdfast.spi.Reply;
import dev.holdfast.spi.StoreException.Effect;
import dev.holdfast.spi.StoreException.Reason;
import dev.holdfast.verification.world.Actor.Doing;
import dev.holdfast.verification.world.Eventually;
import dev.holdfast.verification.world.FaultyLink;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.assertj.core.api.InstanceOfAssertFactories;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@DisplayName("A double barrier, for a party that gives up,")
@Tag("H4")
class DoubleBarrierGivingUpTest extends DoubleBarrierFixture {

    /** It takes as long to open as the test wants. */
    private final Party slow = new Party("slow", Duration.ofDays(1));

    @Test
    @DisplayName("opens without it, for as many as are needed")
    void timesOut() throws Exception {
        Doing<Optional<BarrierMembership>> trying = alice.tries();
        Eventually.holds("it has a place", () -> places() == 1);
        bob.hasPlace();
        world.advanceUntil("the wait is over", trying::isDone);
        assertThat(trying.result()).isEmpty();
        assertThat(places()).isEqualTo(1);
        carol.comes();
        noneInside(bob, carol);

        alice.comes();

        allInside(alice, bob, carol);
        // There is no place any more: that is waited for no longer either.
        Doing<Optional<BarrierMembership>> noPlace = dave.tries();
        world.advanceUntil("the wait is over", noPlace::isDone);
        assertThat(noPlace.result()).isEmpty();
        assertThat(dave.actor.call(() -> dave.barrier.tryEnter(Duration.ZERO))).isEmpty();
        allLeave(alice, bob, carol);
    }

    @Test
    @DisplayName("has opened if it was opened before it gave up, and takes it in")
    void openedFirst() throws Exception {
        Doing<Optional<BarrierMembership>> trying = alice.triesWhile(bob);
        FaultyLink.HeldUp opening = carol.opens();
        advance(Duration.ofSeconds(3));
        assertThat(trying.isDone()).isFalse();

        canSee(alice, bob);
        opening.proceed();

        world.advanceUntil("alice knows", trying::isDone);
        BarrierMembership inside = trying.result().orElseThrow();
        allInside(bob, carol);
        assertThat(inside.generation()).isEqualTo(carol.membership().generation());
        inside.close();
        allLeave(bob, carol);
    }

    @Test
    @DisplayName("has opened if it was counted before it knew of its place, and takes it in")
    void countedFirst() throws Exception {
        FaultyLink.HeldUp asking = alice.link.holdUpNext(Acquire.class);
        Doing<Optional<BarrierMembership>> trying = alice.tries();
        Reply granted = asking.deliver();
        allEnter(bob, carol);
        advance(Duration.ofSeconds(3));
        assertThat(trying.isDone()).isFalse();

        asking.answer(granted);

        world.advanceUntil("alice knows", trying::isDone);
        BarrierMembership inside = trying.result().orElseThrow();
        assertThat(inside.generation()).isEqualTo(bob.membership().generation());
        inside.close();
        allLeave(bob, carol);
    }

    @Test
    @DisplayName("takes it in as well if who opened has died since, with the lock that giving up needs")
    void openedAndDied() throws Exception {
        Doing<Optional<BarrierMembership>> trying = alice.triesWhile(bob);
        FaultyLink.HeldUp opening = carol.opens();
        advance(Duration.ofSeconds(3));
        assertThat(world.waitersOf("stage#door")).isEqualTo(1);

        opening.deliver();
        carol.die();
        canSee(alice, bob);

        world.advanceUntil("alice knows", trying::isDone);
        BarrierMembership inside = trying.result().orElseThrow();
        allInside(bob);
        assertThat(inside.generation()).isEqualTo(bob.membership().generation());
        inside.close();
        advance(TTL);
        allLeave(bob);
    }

    @Test
    @DisplayName("says so if who would open has died before: for the time of the lease nobody else can tell")
    void openerDied() throws Exception {
        Doing<Optional<BarrierMembership>> trying = alice.triesWhile(bob);
        FaultyLink.HeldUp opening = carol.opens();
        carol.die();
        canSee(alice, bob);

        world.advanceUntil("alice has given up", trying::isDone);

        assertThatThrownBy(trying::result)
                .isInstanceOf(LockWaitTimeoutException.class)
                .satisfies(e -> assertThat(e.getSuppressed()).hasSize(1));
        advance(TTL);
        noneInside(bob);
        dave.comes();
        noneInside(bob, dave);
        alice.comes();
        allInside(alice, bob, dave);
        allLeave(alice, bob, dave);
    }

    @Test
    @Tag("H3")
    @DisplayName("and was counted by one that takes long to open, keeps its place until it is open, and says so")
    void openerIsSlow() throws Exception {
        Doing<Optional<BarrierMembership>> trying = alice.triesWhile(bob);
        FaultyLink.HeldUp opening = slow.opens();

        world.advanceUntil("alice has given up", trying::isDone);

        assertThatThrownBy(trying::result)
                .isInstanceOf(LockWaitTimeoutException.class)
                .satisfies(e -> assertThat(e.getSuppressed())
                        .singleElement()
                        .asInstanceOf(InstanceOfAssertFactories.THROWABLE)
                        .hasMessageContaining("may still open with this party counted"));
        advance(TTL);
        assertThat(holders()).containsExactlyInAnyOrder("alice", "bob", "slow");
        dave.comes();
        canSee(bob);
        opening.proceed();
        allInside(bob, slow);
        world.advanceUntil("dave has alice's place", () -> holders().contains("dave"));
        assertThat(holders()).containsExactlyInAnyOrder("bob", "slow", "dave");
        noneInside(dave);
        allLeave(bob, slow);
        dave.actor.interrupt();
        world.advanceUntil("dave has given up", dave::isInside);
    }

    @Test
    @DisplayName("and can't know whether it was counted, gives its place back before another can open with it")
    void openerDiedAndAnotherComes() throws Exception {
        Doing<Optional<BarrierMembership>> trying = alice.triesWhile(bob);
        FaultyLink.HeldUp unused = slow.opens();
        world.advanceUntil("alice has given up", trying::isDone);
        canSee(alice, bob);
        dave.comes();
        erin.comes();
        slow.die();

        world.advanceUntil(
                "all but alice and slow have places", () -> !holders().contains("alice") && places() == 3);

        allInside(bob, dave, erin);
        assertThat(alice.link.sent(Acquire.class).stream()
                        .filter(acquire -> acquire.resource().value().equals("stage#door")))
                .as("requests for the lock")
                .hasSize(1);
        allLeave(bob, dave, erin);
    }

    @Test
    @DisplayName("stops waiting for the opener when it has lost its place, or its client is closed")
    void placeIsLost() throws Exception {
        alice.isBlind();
        bob.isBlind();
        List<Doing<Optional<BarrierMembership>>> trying = List.of(alice.tries(), bob.tries());
        Eventually.holds("two are there", () -> places() == 2);
        FaultyLink.HeldUp opening = slow.opens();
        world.advanceUntil("they have given up", () -> trying.stream().allMatch(Doing::isDone));
        assertThat(world.waitersOf("stage#door")).isEqualTo(2);

        bob.holdfast.close();
        assertThat(world.waitersOf("stage#door")).isEqualTo(1);
        alice.die();
        advance(TTL.plus(TTL));
        canSee(alice);
        advance(TTL);

        assertThat(holders()).containsExactly("slow");
        assertThat(world.waitersOf("stage#door")).isZero();
        // Both have died, after all were there.
        opening.proceed();
        allInside(slow);
        allLeave(slow);
    }

    @Test
    @DisplayName("and can't have the lock for another reason, asks for it again")
    void lockRefused() throws Exception {
        alice.link.failFor(
                command -> command instanceof Acquire acquire
                        && acquire.resource().value().equals("stage#door"),
                Reason.DENIED,
                Effect.NONE);
        Doing<Optional<BarrierMembership>> trying = alice.tries();
        world.advanceUntil("alice has given up", trying::isDone);
        assertThatThrownBy(trying::result)
                .isInstanceOf(LockWaitTimeoutException.class)
                .satisfies(e -> assertThat(e.getSuppressed()).hasSize(2));
        alice.link.forget();
        advance(TTL.plus(TTL));
        assertThat(holders()).containsExactly("alice");
        assertThat(alice.link.sent(Acquire.class)).hasSizeBetween(2, 8);

        canSee(alice);

        world.advanceUntil("alice has no place any more", () -> places() == 0);
        world.awaitIdle();
    }

    @Test
    @DisplayName("is not opened by who comes while it gives up")
    void gaveUpFirst() throws Exception {
        FaultyLink.HeldUp release = alice.link.holdUpNext(Release.class);
        Doing<Optional<BarrierMembership>> trying = alice.tries();
        bob.comes();
        world.advanceUntil(
                "alice gives up", () -> !alice.link.sent(Release.class).isEmpty());
        carol.comes();
        Eventually.holds("all places are taken", () -> places() == PARTIES);
        advance(Duration.ofSeconds(2));
        assertThat(bob.isInside()).isFalse();
        assertThat(carol.isInside()).isFalse();

        release.proceed();

        world.advanceUntil("alice has given up", trying::isDone);
        assertThat(trying.result()).isEmpty();
        noneInside(bob, carol);
        alice.comes();
        allInside(alice, bob, carol);
        allLeave(alice, bob, carol);
    }

    @Test
    @DisplayName("at an interrupt or because its stage is cancelled, leaves nothing behind")
    void interrupted() throws Exception {
        alice.hasPlace();
        CompletableFuture<BarrierMembership> stage = bob.barrier.enterAsync().toCompletableFuture();
        Eventually.holds("both have places", () -> places() == 2);

        alice.actor.interrupt();
        stage.cancel(false);

        world.advanceUntil("they have given up", () -> alice.isInside() && places() == 0);
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
    @DisplayName("at an interrupt after it was opened, takes it in, and the flag stays set")
    void interruptedTooLate() throws Exception {
        alice.isBlind();
        Doing<Boolean> entering = alice.actor.start(() -> {
            try (BarrierMembership inside = alice.barrier.enter()) {
                return Thread.currentThread().isInterrupted() && inside.isInside();
            }
        });
        bob.isBlind().comes();
        Eventually.holds("two are there", () -> places() == 2);
        FaultyLink.HeldUp opening = carol.opens();
        alice.actor.interrupt();
        advance(Duration.ofSeconds(1));

        canSee(alice, bob);
        opening.proceed();

        world.advanceUntil("alice knows", entering::isDone);
        assertThat(entering.result()).isTrue();
        allInside(bob, carol);
        allLeave(bob, carol);
    }

    @Test
    @DisplayName("because the store does not answer, says so")
    void storeSilent() throws Exception {
        alice.hasPlace();
        alice.link.fail(CountDown.class, Reason.UNAVAILABLE, Effect.NONE);
        alice.link.fail(Inspect.class, Reason.UNAVAILABLE, Effect.NONE);

        alice.link.forget();
        world.advanceUntil("it asks", () -> !alice.link.sent(CountDown.class).isEmpty());
        advance(Duration.ofSeconds(11));
        // Too late to be the reason: it stays pending.
        alice.actor.interrupt();

        world.advanceUntil("it gives up", alice::isInside);

        assertThatThrownBy(alice::membership).isInstanceOf(StoreUnavailableException.class);
        assertThat(alice.wasInterrupted).isTrue();
        alice.link.mend();
        world.advanceUntil("its place is free", () -> places() == 0);
    }

    @Test
    @DisplayName("whose session has ended before it is known whether it has opened the barrier comes to an end")
    void sessionEndedWhileOpening() {
        alice.link.failNext(Command.SetCount.class, Reason.UNAVAILABLE, Effect.UNKNOWN);
        alice.link.runBeforeNext(
                Command.KeepAlive.class,
                () -> world.ask(new Command.CloseSession(
                        alice.link.sent(Command.KeepAlive.class).get(0).session())));

        CompletableFuture<BarrierMembership> entering =
                alice.holdfast.barrier("solo", 1).enterAsync().toCompletableFuture();
        world.advance(Duration.ofSeconds(15));

        assertThat(entering).isDone();
        assertThat(alice.link.sent(Command.OpenSession.class)).hasSize(2);
        var unused = entering.thenAccept(BarrierMembership::close);
    }
}
