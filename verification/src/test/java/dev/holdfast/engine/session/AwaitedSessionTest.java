package dev.holdfast.engine.session;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.engine.client.ClientContext;
import dev.holdfast.engine.client.ClientOptions;
import dev.holdfast.engine.client.SafetyRules;
import dev.holdfast.spi.CallerMode;
import dev.holdfast.verification.world.FaultyLink;
import dev.holdfast.verification.world.World;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

@DisplayName("An action that waits for a session, whose caller found none,")
class AwaitedSessionTest {

    @AutoClose
    private final World world = World.still();

    private final FaultyLink link = world.link();
    private final ClientOptions options = new ClientOptions(
            Duration.ofSeconds(30), Duration.ofSeconds(10), Duration.ofMillis(10), Duration.ofSeconds(10), "alice");
    private final ClientContext context = ClientContext.of(world.time(), options, new SafetyRules(), link.traits());
    private final Partition partition = new Partitions(context, link).at(0);
    private final List<String> outcomes = new ArrayList<>();

    private void awaitSession() {
        partition.awaitSession(() -> outcomes.add("ready"), () -> outcomes.add("failed"));
    }

    @Test
    @DisplayName("runs at once if one was opened meanwhile")
    void openedMeanwhile() {
        partition.needSession(CallerMode.ASYNC);

        awaitSession();

        assertThat(outcomes).containsExactly("ready");
        assertThat(partition.shut()).isNotNull();
        assertThat(partition.endClose(null)).isTrue();
    }

    @Test
    @DisplayName("fails at once if the client has begun to close meanwhile")
    void closedMeanwhile() {
        assertThat(context.life().beginClose()).isTrue();

        awaitSession();

        assertThat(outcomes).containsExactly("failed");
        assertThat(link.sent()).isEmpty();
    }
}
