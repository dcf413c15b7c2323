package dev.holdfast.engine.session;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.engine.client.ClientContext;
import dev.holdfast.engine.client.ClientOptions;
import dev.holdfast.engine.client.SafetyRules;
import dev.holdfast.spi.CallerMode;
import dev.holdfast.spi.Command;
import dev.holdfast.verification.world.FaultyLink;
import dev.holdfast.verification.world.World;
import java.time.Duration;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

@DisplayName("A session that nothing seems to need")
class RestingSessionTest {

    private static final Duration KEEP_ALIVE = Duration.ofSeconds(10);

    @AutoClose
    private final World world = World.inParts(2);

    private final FaultyLink link = world.link();
    private final LateUser user = new LateUser();

    /** Begins to use a partition between the two checks whether it does. */
    private static final class LateUser implements SessionUser {
        private int checks;
        private int opened;

        @Override
        public boolean isUsing(Partition partition) {
            checks++;
            return checks > 1;
        }

        @Override
        public void opened(Partition partition) {
            opened++;
        }
    }

    @Test
    @DisplayName("is renewed if someone begins to use it before it is ended, and who found none meanwhile is notified")
    void usedMeanwhile() {
        ClientOptions options = new ClientOptions(
                KEEP_ALIVE.multipliedBy(3), KEEP_ALIVE, Duration.ofMillis(10), Duration.ofSeconds(10), "alice");
        Partitions partitions =
                new Partitions(ClientContext.of(world.time(), options, new SafetyRules(), link.traits()), link);
        partitions.serve(user);
        Partition partition = partitions.at(0);
        partition.needSession(CallerMode.ASYNC);
        Session session = partition.keeper.current();
        assertThat(session).isNotNull();
        assertThat(user.opened).isEqualTo(1);

        world.advance(KEEP_ALIVE);

        assertThat(user.checks).isEqualTo(2);
        assertThat(user.opened).isEqualTo(2);
        assertThat(partition.keeper.current()).isSameAs(session);
        assertThat(link.sent(Command.KeepAlive.class)).hasSize(1);
        assertThat(link.sent(Command.CloseSession.class)).isEmpty();
        assertThat(partition.shut()).isSameAs(session);
        assertThat(partition.endClose(null)).isTrue();
    }
}
