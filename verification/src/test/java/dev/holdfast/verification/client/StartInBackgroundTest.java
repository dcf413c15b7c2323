package dev.holdfast.verification.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.Hold;
import dev.holdfast.Holdfast;
import dev.holdfast.StoreRefusedException;
import dev.holdfast.StoreUnavailableException;
import dev.holdfast.admin.ClientState;
import dev.holdfast.spi.LockStore;
import dev.holdfast.spi.StoreException;
import dev.holdfast.spi.StoreException.Effect;
import dev.holdfast.spi.StoreException.Reason;
import dev.holdfast.spi.StoreProvider;
import dev.holdfast.spi.StoreUri;
import dev.holdfast.spi.support.DeferredStore;
import dev.holdfast.spi.support.ForwardingStore;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

@DisplayName("A client that starts while its store is away")
class StartInBackgroundTest {

    private static final StoreUri MEMORY = StoreUri.parse("memory:");

    private final AtomicInteger attempts = new AtomicInteger();
    private final AtomicReference<Reason> trouble = new AtomicReference<>(Reason.UNAVAILABLE);
    private final LockStore real = StoreProvider.of(MEMORY).open(MEMORY);

    private LockStore open() {
        attempts.incrementAndGet();
        Reason reason = trouble.get();
        if (reason != null) {
            throw new StoreException(reason, Effect.NONE, "it is away", null);
        }
        return real;
    }

    private final DeferredStore store = new DeferredStore(real.traits(), this::open);

    private Holdfast client(Duration storeTimeout) {
        return Holdfast.builder(store)
                .storeTimeout(storeTimeout)
                .startInBackground()
                .build();
    }

    @Test
    @DisplayName("has its session by itself once the store is there, and what waits is granted")
    void comesLater() throws Exception {
        try (Holdfast holdfast = client(Duration.ofMinutes(1))) {
            assertThat(holdfast.state().status()).isEqualTo(ClientState.Status.DISCONNECTED);
            var waiting = holdfast.lock("ledger").acquireAsync().toCompletableFuture();
            while (attempts.get() < 2) {
                Thread.onSpinWait();
            }
            assertThat(waiting).isNotDone();
            trouble.set(null);
            try (Hold hold = waiting.get()) {
                assertThat(hold.isHeld()).isTrue();
            }
            assertThat(holdfast.state().isConnected()).isTrue();
        }
    }

    @Test
    @DisplayName("tells those who wait that the store is not there, after the store time-out")
    void staysAway() {
        try (Holdfast holdfast = client(Duration.ofMillis(300))) {
            assertThatThrownBy(() -> holdfast.lock("ledger").acquire(Duration.ofMinutes(1)))
                    .isInstanceOf(StoreUnavailableException.class)
                    .hasMessageContaining("ledger");
        }
    }

    @Test
    @DisplayName("tells those who wait that the store refuses it")
    void refused() {
        trouble.set(Reason.DENIED);
        try (Holdfast holdfast = client(Duration.ofMinutes(1))) {
            assertThatThrownBy(() -> holdfast.lock("ledger").acquire(Duration.ofMinutes(1)))
                    .isInstanceOf(StoreRefusedException.class)
                    .hasMessageContaining("it is away");
        }
    }

    @Test
    @DisplayName("closes a store that was opened too late")
    void closedMeanwhile() throws Exception {
        CountDownLatch opening = new CountDownLatch(1);
        CountDownLatch mayOpen = new CountDownLatch(1);
        CountDownLatch closed = new CountDownLatch(1);
        DeferredStore slow = new DeferredStore(real.traits(), () -> {
            opening.countDown();
            try {
                mayOpen.await();
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
            return new ClosingStore(real, closed::countDown);
        });
        Holdfast holdfast = Holdfast.builder(slow)
                .storeTimeout(Duration.ofMillis(300))
                .startInBackground()
                .build();
        opening.await();
        holdfast.close();
        slow.close();
        mayOpen.countDown();
        closed.await();
    }

    /** Records that it was closed. */
    private static final class ClosingStore extends ForwardingStore {
        private final Runnable onClose;

        ClosingStore(LockStore store, Runnable onClose) {
            super(store);
            this.onClose = onClose;
        }

        @Override
        public void close() {
            onClose.run();
        }
    }
}
