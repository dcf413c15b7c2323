package dev.holdfast.examples;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.Holdfast;
import dev.holdfast.test.HoldfastExtension;
import dev.holdfast.test.TestStore;
import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

@ExtendWith(HoldfastExtension.class)
@DisplayName("A rate limit")
class RateLimitTest {

    private static final Duration MINUTE = Duration.ofMinutes(1);

    private final AtomicInteger calls = new AtomicInteger();

    /** A timer on the time of a store. */
    private static class Timer extends ScheduledThreadPoolExecutor {
        private final TestStore store;

        Timer(TestStore store) {
            super(1);
            this.store = store;
        }

        @Override
        public <V> ScheduledFuture<V> schedule(Callable<V> task, long delay, TimeUnit unit) {
            store.after(Duration.of(delay, unit.toChronoUnit()), () -> run(task));
            return never();
        }

        private static void run(Callable<?> task) {
            try {
                task.call();
            } catch (Exception e) {
                throw new AssertionError(e);
            }
        }

        /** What nobody looks at. */
        <V> ScheduledFuture<V> never() {
            ScheduledFuture<V> never = super.schedule(() -> null, 1, TimeUnit.DAYS);
            never.cancel(false);
            return never;
        }
    }

    private CompletableFuture<Integer> begin(RateLimit limit) {
        return CompletableFuture.supplyAsync(
                () -> {
                    try {
                        return limit.call(calls::incrementAndGet);
                    } catch (Exception e) {
                        throw new AssertionError(e);
                    }
                },
                task -> new Thread(task).start());
    }

    @Test
    @DisplayName("lets no more through in any minute, whichever process they come from")
    void limits(Holdfast holdfast, TestStore store) throws Exception {
        RateLimit here = new RateLimit(holdfast, "api", 2, MINUTE, new Timer(store));
        RateLimit there = new RateLimit(store.elsewhere(), "api", 2, MINUTE, new Timer(store));
        here.call(calls::incrementAndGet);
        store.advance(Duration.ofSeconds(30));
        there.call(calls::incrementAndGet);
        CompletableFuture<Integer> third = begin(here);
        store.awaitWaiting("api", 1);
        store.advance(Duration.ofSeconds(29));
        assertThat(third).isNotDone();
        store.advance(Duration.ofSeconds(1));
        assertThat(third.get(1, TimeUnit.MINUTES)).isEqualTo(3);
        CompletableFuture<Integer> fourth = begin(here);
        store.awaitWaiting("api", 1);
        store.advance(Duration.ofSeconds(29));
        assertThat(fourth).isNotDone();
        store.advance(Duration.ofSeconds(1));
        assertThat(fourth.get(1, TimeUnit.MINUTES)).isEqualTo(4);
    }

    @Test
    @DisplayName("counts what a process has done that crashed")
    void crash(Holdfast holdfast, TestStore store) throws Exception {
        Holdfast crashing = store.builder().label("crashing").build();
        new RateLimit(crashing, "api", 1, MINUTE, new Timer(store) {
                    @Override
                    public <V> ScheduledFuture<V> schedule(Callable<V> task, long delay, TimeUnit unit) {
                        return never(); // it is gone by then
                    }
                })
                .call(calls::incrementAndGet);
        crashing.close();
        assertThat(holdfast.semaphore("api", 1).tryAcquire()).isEmpty();
        store.advance(MINUTE.multipliedBy(3));
        assertThat(holdfast.semaphore("api", 1).tryAcquire()).isPresent();
    }
}
