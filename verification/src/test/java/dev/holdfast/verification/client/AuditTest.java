package dev.holdfast.verification.client;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.Hold;
import dev.holdfast.Holdfast;
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
    @DisplayName("withdraws a claim that the store has and nobody asked for")
    void ghost() throws Exception {
        Hold hold = alice.lock("ledger").acquire();
        Command.Acquire asked = link.sent(Command.Acquire.class).get(0);
        ClaimRef ghost = new ClaimRef(new ResourceName("ghost"), asked.claim().session(), 1);
        world.ask(new Command.Acquire(
                ghost, asked.epoch(), Sending.FIRST, ResourceSpec.MUTEX, 1, Lease.SESSION, Waiting.TRY, 1));
        assertThat(world.holderOf("ghost")).contains("alice");

        Eventually.holds("it is withdrawn", () -> {
            world.advance(TTL.dividedBy(3));
            return world.holderOf("ghost").isEmpty();
        });
        assertThat(hold.isHeld()).isTrue();
        hold.close();
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
        Eventually.holds("it is repeated", () -> {
            world.advance(Duration.ofMillis(100));
            return link.sent(Command.Audit.class).size() > 3;
        });
        assertThat(hold.isHeld()).isTrue();
        link.mend();
        Eventually.holds("it is answered", () -> {
            world.advance(Duration.ofMillis(100));
            return !hold.isHeld();
        });
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
}
