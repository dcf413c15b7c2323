package dev.holdfast.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.StoreUnavailableException;
import dev.holdfast.engine.client.ClientOptions;
import dev.holdfast.spi.LockStore;
import dev.holdfast.spi.StoreTraits;
import dev.holdfast.spi.support.ForwardingStore;
import dev.holdfast.verification.world.Actor;
import dev.holdfast.verification.world.Actor.Doing;
import dev.holdfast.verification.world.Eventually;
import dev.holdfast.verification.world.FaultyLink;
import dev.holdfast.verification.world.World;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.function.Supplier;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

@DisplayName("A store that a client opens")
class StoreOpeningTest {

    private static final Duration TTL = Duration.ofSeconds(30);

    @AutoClose
    private final World world = World.still();

    private final FaultyLink link = world.link(BriefSessions::new);
    private final Actor actor = world.actor("alice");

    /** Keeps sessions no longer than the client asks for. */
    private static final class BriefSessions extends ForwardingStore {
        BriefSessions(LockStore store) {
            super(store);
        }

        @Override
        public StoreTraits traits() {
            return super.traits().toBuilder().maxSessionTtl(TTL).build();
        }
    }

    private Engine start(Supplier<LockStore> opening, boolean closesStore, Duration ttl, Duration storeTimeout) {
        ClientOptions options = new ClientOptions(ttl, ttl.dividedBy(3), Duration.ZERO, storeTimeout, "alice");
        return Engine.start(opening, "memory", closesStore, options, Optional.of(world.time()));
    }

    @Test
    @DisplayName("is closed if it does not keep sessions for as long as the client wants, unless it was open before")
    void sessionTooLong() {
        for (boolean closesStore : new boolean[] {false, true}) {
            assertThatThrownBy(() -> start(() -> link, closesStore, TTL.plusSeconds(3), Duration.ofSeconds(10)))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageStartingWith("sessionTtl (33 s) must be at most 30 s");
            assertThat(link.isClosed()).isEqualTo(closesStore);
        }
    }

    @Test
    @DisplayName("is waited for no longer than the store time-out, and closed when it opens after that")
    void opensTooLate() throws Exception {
        CountDownLatch mayOpen = new CountDownLatch(1);
        Doing<Engine> starting = actor.start(() -> start(
                () -> {
                    awaitUninterruptibly(mayOpen);
                    return link;
                },
                true,
                TTL,
                Duration.ofMillis(1)));
        assertThatThrownBy(starting::result).isInstanceOf(StoreUnavailableException.class);
        assertThat(link.isClosed()).isFalse();

        mayOpen.countDown();

        Eventually.holds("the store is closed", link::isClosed);
        assertThat(link.sent()).isEmpty();
    }

    private static void awaitUninterruptibly(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }
}
