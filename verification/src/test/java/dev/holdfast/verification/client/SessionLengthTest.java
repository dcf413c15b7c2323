package dev.holdfast.verification.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import dev.holdfast.Hold;
import dev.holdfast.Holdfast;
import dev.holdfast.spi.CallerMode;
import dev.holdfast.spi.Command;
import dev.holdfast.spi.Command.KeepAlive;
import dev.holdfast.spi.Command.OpenSession;
import dev.holdfast.spi.LockStore;
import dev.holdfast.spi.Reply;
import dev.holdfast.spi.StoreTraits;
import dev.holdfast.spi.support.ForwardingStore;
import dev.holdfast.store.memory.ReferenceStore;
import dev.holdfast.verification.world.FaultyLink;
import dev.holdfast.verification.world.World;
import java.time.Duration;
import java.util.concurrent.CompletionStage;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

@DisplayName("On a store that keeps sessions for half a minute to a minute, a client")
class SessionLengthTest {

    private static final Duration SHORTEST = Duration.ofSeconds(30);
    private static final Duration LONGEST = Duration.ofMinutes(1);

    private final FaultyLink store = new FaultyLink(new Limited(new ReferenceStore()));

    @Test
    @Tag("S11")
    @DisplayName("with a longer session is refused, with both durations, before the store is asked for anything")
    void longer() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> Holdfast.builder(store)
                        .sessionTtl(LONGEST.plusMillis(1))
                        .build())
                .withMessageContainingAll("1 min 1 ms", "1 min", "limited");
        assertThat(store.sent()).isEmpty();
    }

    @Test
    @DisplayName("with just such a session locks")
    void longest() {
        try (Holdfast client = Holdfast.builder(store).sessionTtl(LONGEST).build()) {
            assertThat(client.lock("x").tryAcquire()).isPresent();
        }
    }

    @ParameterizedTest
    @Tag("S1")
    @CsvSource({"PT10S, PT10S", "PT20S, PT10S", "PT30S, PT10S", "PT45S, PT15S"})
    @DisplayName("renews its session by the ttl that the store keeps, and not by a shorter one that it asked for")
    void lengthened(Duration ttl, Duration interval) throws InterruptedException {
        try (World world = World.still()) {
            FaultyLink link = world.link(Limited::new);
            Hold hold = world.client(world.builder("alice", link).sessionTtl(ttl))
                    .lock("x")
                    .acquire();
            world.advance(interval.multipliedBy(4).plusSeconds(1));
            assertThat(link.sent(KeepAlive.class)).hasSize(4);
            assertThat(hold.isHeld()).isTrue();
            link.cut();
            world.advance(interval.multipliedBy(2).minusSeconds(1));
            assertThat(hold.isHeld()).isTrue();
            world.advance(interval);
            assertThat(hold.isHeld()).isFalse();
        }
    }

    private static final class Limited extends ForwardingStore {
        Limited(LockStore store) {
            super(store);
        }

        @Override
        public StoreTraits traits() {
            return StoreTraits.of("limited")
                    .minSessionTtl(SHORTEST)
                    .maxSessionTtl(LONGEST)
                    .build();
        }

        @Override
        public CompletionStage<Reply> execute(Command command, CallerMode caller) {
            return super.execute(
                    command instanceof OpenSession asked && asked.ttl().compareTo(SHORTEST) < 0
                            ? new OpenSession(SHORTEST, asked.label())
                            : command,
                    caller);
        }
    }
}
