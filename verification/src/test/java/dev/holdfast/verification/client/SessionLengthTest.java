package dev.holdfast.verification.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import dev.holdfast.Holdfast;
import dev.holdfast.spi.CallerMode;
import dev.holdfast.spi.Command;
import dev.holdfast.spi.LockStore;
import dev.holdfast.spi.Reply;
import dev.holdfast.spi.Signal;
import dev.holdfast.spi.StoreTraits;
import dev.holdfast.store.memory.ReferenceStore;
import java.time.Duration;
import java.util.Queue;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.Consumer;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@DisplayName("On a store that keeps no session for longer than a minute, a client")
class SessionLengthTest {

    private static final Duration LONGEST = Duration.ofMinutes(1);

    /** With what it was asked. */
    private final Queue<Command> asked = new ConcurrentLinkedQueue<>();

    private final LockStore store = new Limited(new ReferenceStore(), asked);

    @Test
    @Tag("S11")
    @DisplayName("with a longer session is refused, with both durations, before the store is asked for anything")
    void longer() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> Holdfast.builder(store)
                        .sessionTtl(LONGEST.plusMillis(1))
                        .build())
                .withMessageContainingAll("PT1M0.001S", "PT1M", "limited");
        assertThat(asked).isEmpty();
    }

    @Test
    @DisplayName("with just such a session locks")
    void longest() {
        try (Holdfast client = Holdfast.builder(store).sessionTtl(LONGEST).build()) {
            assertThat(client.lock("x").tryAcquire()).isPresent();
        }
    }

    private record Limited(LockStore store, Queue<Command> asked) implements LockStore {
        @Override
        public StoreTraits traits() {
            return StoreTraits.of("limited").maxSessionTtl(LONGEST).build();
        }

        @Override
        public CompletionStage<Reply> execute(Command command, CallerMode caller) {
            asked.add(command);
            return store.execute(command, caller);
        }

        @Override
        public Subscription subscribe(Consumer<Signal> listener) {
            return store.subscribe(listener);
        }

        @Override
        public void close() {
            store.close();
        }
    }
}
