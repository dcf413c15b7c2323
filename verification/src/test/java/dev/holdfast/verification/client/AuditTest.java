package dev.holdfast.verification.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.Hold;
import dev.holdfast.Holdfast;
import dev.holdfast.LockLostException;
import dev.holdfast.Loss;
import dev.holdfast.spi.ClaimRef;
import dev.holdfast.spi.Command;
import dev.holdfast.spi.Command.Sending;
import dev.holdfast.spi.Command.Waiting;
import dev.holdfast.spi.Lease;
import dev.holdfast.spi.Reply;
import dev.holdfast.spi.ResourceName;
import dev.holdfast.spi.ResourceSpec;
import dev.holdfast.spi.Signal;
import dev.holdfast.spi.StoreException.Effect;
import dev.holdfast.spi.StoreException.Reason;
import dev.holdfast.verification.world.Eventually;
import dev.holdfast.verification.world.FaultyLink;
import dev.holdfast.verification.world.World;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@DisplayName("The audit of a session")
class AuditTest {

    private static final Duration TTL = Duration.ofSeconds(30);

    @AutoClose
    private final World world = World.still();

    private final FaultyLink link = world.link();
    private final Holdfast alice = world.client("alice", link);

    @Test
    @Tag("C13")
    @DisplayName("does not take a claim for a ghost that is released while the answer is on its way")
    void releasedMeanwhile() throws Exception {
        Hold hold = alice.lock("ledger").acquire();
        FaultyLink.HeldUp audit = link.holdUpNext(Command.Audit.class);
        Eventually.holds("it is sent", () -> {
            world.advance(Duration.ofSeconds(1));
            return !link.sent(Command.Audit.class).isEmpty();
        });
        Reply old = audit.deliver();
        assertThat(((Reply.Audited) old).granted()).hasSize(1);
        hold.close();
        link.forget();

        audit.answer(old);

        assertThat(link.sent(Command.Withdraw.class)).isEmpty();
    }

    @Test
    @Tag("C13")
    @DisplayName("does not take a claim for a ghost that its caller gave up before the answer")
    void givenUpMeanwhile() {
        FaultyLink.HeldUp acquire = link.holdUpNext(Command.Acquire.class);
        CompletableFuture<Hold> asked = alice.lock("ledger").acquireAsync().toCompletableFuture();
        Reply granted = acquire.deliver();
        asked.cancel(false);

        link.signal(new Signal.FailedOver());

        assertThat(link.sent(Command.Audit.class)).hasSize(1);
        assertThat(link.sent(Command.Withdraw.class)).isEmpty();
        acquire.answer(granted);
        assertThat(link.sent(Command.Withdraw.class)).hasSize(1);
        assertThat(world.holderOf("ledger")).isEmpty();
    }

    @Test
    @DisplayName("withdraws a claim that the store has and nobody asked for")
    void ghost() throws Exception {
        Hold hold = alice.lock("ledger").acquire();
        Command.Acquire asked = link.sent(Command.Acquire.class).get(0);
        for (String name : List.of("ghost", "another ghost")) {
            ClaimRef ghost = new ClaimRef(new ResourceName(name), asked.claim().session(), 1);
            world.ask(new Command.Acquire(
                    ghost, asked.epoch(), Sending.FIRST, ResourceSpec.MUTEX, 1, Lease.SESSION, Waiting.TRY, 1));
            assertThat(world.holderOf(name)).contains("alice");

            Eventually.holds("it is withdrawn", () -> {
                world.advance(TTL.dividedBy(3));
                return world.holderOf(name).isEmpty();
            });
        }
        assertThat(hold.isHeld()).isTrue();
        hold.close();
    }

    @Test
    @DisplayName("withdraws a claim that nobody asked for, also of a name for which this client waits")
    void ghostInTheWay() throws Exception {
        Hold hold = alice.lock("kept").acquire();
        Command.Acquire asked = link.sent(Command.Acquire.class).get(0);
        ClaimRef ghost = new ClaimRef(new ResourceName("ledger"), asked.claim().session(), 1);
        world.ask(new Command.Acquire(
                ghost, asked.epoch(), Sending.FIRST, ResourceSpec.MUTEX, 1, Lease.SESSION, Waiting.TRY, 1));
        link.loseSignals();
        CompletableFuture<Hold> waiting = alice.lock("ledger").acquireAsync().toCompletableFuture();
        assertThat(world.waitersOf("ledger")).isEqualTo(1);

        Eventually.holds("it is withdrawn", () -> {
            world.advance(TTL.dividedBy(3));
            return waiting.isDone();
        });

        assertThat(link.sent(Command.Withdraw.class))
                .extracting(Command.Withdraw::claim)
                .containsExactly(ghost);
        waiting.join().close();
        hold.close();
    }

    @Test
    @DisplayName("leaves a claim alone that waits for its answer, for as long as the store time-out allows")
    void patience() {
        FaultyLink patientLink = world.link();
        Holdfast patient = world.client(world.builder("patient", patientLink).storeTimeout(Duration.ofMinutes(10)));
        FaultyLink.HeldUp acquire = patientLink.holdUpNext(Command.Acquire.class);
        CompletableFuture<Hold> asked = patient.lock("slow").acquireAsync().toCompletableFuture();
        acquire.awaitCommand();

        world.advance(TTL.multipliedBy(4));

        assertThat(patientLink.sent(Command.Audit.class)).isNotEmpty();
        assertThat(patientLink.sent(Command.Acquire.class)).hasSize(1);
        acquire.proceed();
        asked.join().close();
    }

    /** A lock of alice that the store has forgotten, as a server that was promoted may have. */
    private Hold forgotten(String name) throws InterruptedException {
        Hold hold = alice.lock(name).acquire();
        var released = world.ask(
                new Command.Release(link.sent(Command.Acquire.class).get(0).claim()));
        assertThat(released).isInstanceOf(Reply.Released.class);
        // An audit says nothing of what was granted while it was sent.
        world.advance(Duration.ofMillis(1));
        link.forget();
        return hold;
    }

    @Test
    @DisplayName("is made at once after a fail-over, and finds what the new server lacks")
    void failedOver() throws Exception {
        Hold kept = alice.lock("kept").acquire();
        link.forget();
        Hold hold = forgotten("lost");

        link.signal(new Signal.FailedOver());

        assertThat(hold.isHeld()).isFalse();
        assertThat(kept.isHeld()).isTrue();
        assertThat(link.sent(Command.Audit.class)).hasSize(1);
    }

    @Test
    @Tag("C14")
    @DisplayName("of very many locks is made in slices, so that keep-alives and timers run in between")
    void veryMany() throws Exception {
        List<Hold> holds = new ArrayList<>();
        for (int i = 0; i < 2_500; i++) {
            holds.add(alice.lock("order-" + i).acquire());
        }
        for (Command.Acquire acquire : link.sent(Command.Acquire.class)) {
            assertThat(world.ask(new Command.Release(acquire.claim()))).isInstanceOf(Reply.Released.class);
        }
        world.advance(Duration.ofMillis(1));

        link.signal(new Signal.FailedOver());

        assertThat(holds.stream().filter(Hold::isHeld).count()).isBetween(1L, 2_499L);
        world.advance(Duration.ofMillis(1));
        assertThat(holds).noneMatch(Hold::isHeld);
    }

    @Test
    @DisplayName("is repeated after a fail-over until the store answers")
    void failedOverAndSilent() throws Exception {
        Hold hold = forgotten("lost");
        link.fail(Command.Audit.class, Reason.UNAVAILABLE, Effect.NONE);
        link.signal(new Signal.FailedOver());
        // Far less than a ttl, after which the regular audit would follow.
        world.advance(Duration.ofSeconds(3));
        assertThat(link.sent(Command.Audit.class)).hasSizeBetween(4, 20);
        assertThat(hold.isHeld()).isTrue();
        link.mend();
        world.advance(Duration.ofSeconds(1));
        assertThat(hold.isHeld()).isFalse();
        int sent = link.sent(Command.Audit.class).size();
        world.advance(Duration.ofSeconds(5));
        assertThat(link.sent(Command.Audit.class)).hasSize(sent);
    }

    @Test
    @DisplayName("that was answered before a fail-over says nothing of the new server: another follows")
    void failedOverMeanwhile() throws Exception {
        Hold hold = alice.lock("lost").acquire();
        ClaimRef claim = link.sent(Command.Acquire.class).get(0).claim();
        world.advance(Duration.ofMillis(1));
        FaultyLink.HeldUp audit = link.holdUpNext(Command.Audit.class);
        link.signal(new Signal.FailedOver());
        Reply old = audit.deliver();
        assertThat(world.ask(new Command.Release(claim))).isInstanceOf(Reply.Released.class);
        link.signal(new Signal.FailedOver());
        assertThat(link.sent(Command.Audit.class)).hasSize(1);

        audit.answer(old);

        assertThat(hold.isHeld()).isFalse();
        assertThat(link.sent(Command.Audit.class)).hasSize(2);
    }

    @Test
    @DisplayName("compares all pages of the answer")
    void pages() throws Exception {
        Hold first = alice.lock("first").acquire();
        Hold second = alice.lock("second").acquire();
        List<ClaimRef> claims = link.sent(Command.Acquire.class).stream()
                .map(Command.Acquire::claim)
                .toList();
        world.advance(Duration.ofMillis(1));
        link.answerNext(
                Command.Audit.class, new Reply.Audited(List.of(claims.get(0)), List.of(), Optional.of("page 2")));
        link.answerNext(Command.Audit.class, new Reply.Audited(List.of(), List.of(claims.get(1)), Optional.empty()));

        link.signal(new Signal.FailedOver());
        world.advance(Duration.ofMillis(1));

        assertThat(link.sent(Command.Audit.class))
                .extracting(Command.Audit::cursor)
                .containsExactly(Optional.empty(), Optional.of("page 2"));
        assertThat(first.isHeld()).isTrue();
        assertThat(second.isHeld()).isTrue();
        first.close();
        second.close();
    }

    @Test
    @DisplayName("that finds the session ended ends its holds; the next session is audited too")
    void sessionEnded() throws Exception {
        Hold hold = alice.lock("ledger").acquire();
        link.answerNext(Command.Audit.class, new Reply.SessionEnded());

        link.signal(new Signal.FailedOver());

        assertThat(hold.isHeld()).isFalse();
        assertThatThrownBy(hold::close)
                .isInstanceOfSatisfying(
                        LockLostException.class,
                        e -> assertThat(e.loss().cause()).isEqualTo(Loss.Cause.SESSION_ENDED));
        assertFailOverFindsLoss();
    }

    @Test
    @DisplayName("is not made after a fail-over while there is no session, but after the next fail-over")
    void withoutSession() throws Exception {
        link.fail(Command.KeepAlive.class, Reason.UNAVAILABLE, Effect.NONE);
        link.fail(Command.OpenSession.class, Reason.UNAVAILABLE, Effect.NONE);
        world.advance(TTL);
        link.forget();

        link.signal(new Signal.FailedOver());

        assertThat(link.sent(Command.Audit.class)).isEmpty();
        link.mend();
        assertFailOverFindsLoss();
    }

    @Test
    @DisplayName("that the store refuses is not repeated, and does not keep the next one from being made")
    void refused() throws Exception {
        link.failNext(Command.Audit.class, Reason.DENIED, Effect.NONE);

        link.signal(new Signal.FailedOver());
        world.advance(Duration.ofSeconds(5));

        assertThat(link.sent(Command.Audit.class)).hasSize(1);
        assertFailOverFindsLoss();
    }

    private void assertFailOverFindsLoss() throws InterruptedException {
        link.forget();
        Hold hold = forgotten("lost");
        link.signal(new Signal.FailedOver());
        assertThat(hold.isHeld()).isFalse();
    }

    @Test
    @DisplayName("that the store did not answer is made up for by the next, a ttl later")
    void unanswered() throws Exception {
        Hold hold = forgotten("lost");
        link.failNext(Command.Audit.class, Reason.UNAVAILABLE, Effect.NONE);

        world.advance(TTL.multipliedBy(2).minusSeconds(1));
        assertThat(link.sent(Command.Audit.class)).hasSize(1);
        assertThat(hold.isHeld()).isTrue();
        world.advance(Duration.ofSeconds(11));

        assertThat(link.sent(Command.Audit.class)).hasSize(2);
        assertThat(hold.isHeld()).isFalse();
    }
}
