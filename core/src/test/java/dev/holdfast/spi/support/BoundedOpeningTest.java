package dev.holdfast.spi.support;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.spi.LockStore;
import dev.holdfast.spi.StoreException;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;

class BoundedOpeningTest {

    private static final Duration BRIEFLY = Duration.ofMillis(1);
    private static final Duration AS_LONG_AS_IT_TAKES = Duration.ofMinutes(1);

    private final CountDownLatch answers = new CountDownLatch(1);
    private final CountDownLatch closed = new CountDownLatch(1);

    private LockStore store() {
        return (LockStore) Proxy.newProxyInstance(
                LockStore.class.getClassLoader(), new Class<?>[] {LockStore.class}, (proxy, method, arguments) -> {
                    if (method.getName().equals("close")) {
                        closed.countDown();
                    }
                    return null;
                });
    }

    /** As with a name service that does not answer. */
    private LockStore silent() {
        try {
            answers.await();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
        return store();
    }

    private static void expectLate(Supplier<LockStore> opening) {
        assertThatThrownBy(() -> BoundedOpening.uninterruptibly(new OpeningTime(BRIEFLY), opening))
                .isInstanceOf(StoreException.class)
                .hasMessageContaining(DurationFormat.format(BRIEFLY));
    }

    private void awaitClosing() throws InterruptedException {
        assertThat(closed.getCount()).isEqualTo(1);
        answers.countDown();
        assertThat(closed.await(60, TimeUnit.SECONDS)).isTrue();
    }

    @Test
    void whatIsOpenInTimeIsHandedOverAndStaysOpen() {
        LockStore store = store();

        assertThat(BoundedOpening.uninterruptibly(new OpeningTime(AS_LONG_AS_IT_TAKES), () -> store))
                .isSameAs(store);

        assertThat(closed.getCount()).isEqualTo(1);
    }

    @Test
    void whatFailsFailsForTheCaller() {
        IllegalArgumentException failure = new IllegalArgumentException("malformed");

        assertThatThrownBy(() -> BoundedOpening.uninterruptibly(new OpeningTime(AS_LONG_AS_IT_TAKES), () -> {
                    throw failure;
                }))
                .isSameAs(failure);
    }

    @Test
    void whatIsOpenTooLateIsClosed() throws Exception {
        expectLate(this::silent);

        awaitClosing();
    }

    @Test
    void anInterruptEndsTheWaitOfWhoWantsThat() throws Exception {
        Thread.currentThread().interrupt();

        assertThatThrownBy(() -> BoundedOpening.within(AS_LONG_AS_IT_TAKES, this::silent))
                .isInstanceOf(InterruptedException.class);

        awaitClosing();
    }

    @Test
    void anInterruptIsKeptForOthers() throws Exception {
        Thread.currentThread().interrupt();

        expectLate(this::silent);

        assertThat(Thread.interrupted()).isTrue();
        awaitClosing();
    }

    @Test
    void interruptsDoNotLengthenTheWait() throws Exception {
        Thread caller = Thread.currentThread();
        CountDownLatch returned = new CountDownLatch(1);
        CompletableFuture<Boolean> hasReturned = CompletableFuture.supplyAsync(() -> {
            for (int interrupts = 0; interrupts < 30_000 && returned.getCount() > 0; interrupts++) {
                caller.interrupt();
                LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(1));
            }
            return returned.getCount() == 0;
        });

        assertThatThrownBy(() -> BoundedOpening.uninterruptibly(new OpeningTime(Duration.ofMillis(50)), this::silent))
                .isInstanceOf(StoreException.class);

        returned.countDown();
        while (!hasReturned.isDone()) {
            Thread.onSpinWait();
        }
        assertThat(Thread.interrupted()).isTrue();
        assertThat(hasReturned.join()).isTrue();
        awaitClosing();
    }

    @Test
    void attemptsThatWereGivenUpAreBoundedInNumber() throws Exception {
        for (int i = 0; i < 16; i++) {
            assertThatThrownBy(() -> BoundedOpening.uninterruptibly(new OpeningTime(BRIEFLY), this::silent))
                    .isInstanceOf(StoreException.class);
        }

        assertThatThrownBy(() -> BoundedOpening.uninterruptibly(new OpeningTime(AS_LONG_AS_IT_TAKES), this::silent))
                .isInstanceOf(StoreException.class)
                .hasMessageContaining("16 abandoned attempts");

        awaitClosing();
        opensAgain();
    }

    private void opensAgain() {
        long began = System.nanoTime();
        while (true) {
            try {
                assertThat(BoundedOpening.uninterruptibly(new OpeningTime(AS_LONG_AS_IT_TAKES), this::store))
                        .isNotNull();
                return;
            } catch (StoreException e) {
                assertThat(System.nanoTime() - began).isLessThan(TimeUnit.MINUTES.toNanos(1));
                LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(1));
            }
        }
    }
}
