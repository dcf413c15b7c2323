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
import dev.holdfast.verification.world.Eventually;
import dev.holdfast.verification.world.FaultyLink;
import dev.holdfast.verification.world.World;
import java.time.Duration;
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
        assertThat(((Reply.Audited) old).held()).hasSize(1);
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
}
