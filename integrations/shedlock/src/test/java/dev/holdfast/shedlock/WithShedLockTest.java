package dev.holdfast.shedlock;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.Holdfast;
import dev.holdfast.test.HoldfastExtension;
import dev.holdfast.test.TestStore;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import net.javacrumbs.shedlock.core.ClockProvider;
import net.javacrumbs.shedlock.core.DefaultLockingTaskExecutor;
import net.javacrumbs.shedlock.core.LockAssert;
import net.javacrumbs.shedlock.core.LockConfiguration;
import net.javacrumbs.shedlock.core.LockExtender;
import net.javacrumbs.shedlock.core.LockingTaskExecutor;
import net.javacrumbs.shedlock.core.LockingTaskExecutor.TaskResult;
import net.javacrumbs.shedlock.core.SimpleLock;
import net.javacrumbs.shedlock.support.KeepAliveLockProvider;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

@ExtendWith(HoldfastExtension.class)
@DisplayName("With what ShedLock builds on a provider,")
class WithShedLockTest {

    private static final Duration HOUR = Duration.ofHours(1);

    private TestStore store;
    private HoldfastLockProvider provider;
    private HoldfastLockProvider providerElsewhere;
    private LockingTaskExecutor executor;
    private LockingTaskExecutor elsewhere;

    @BeforeEach
    void connect(TestStore testStore, Holdfast client) {
        store = testStore;
        provider = new HoldfastLockProvider(client);
        executor = new DefaultLockingTaskExecutor(provider);
        providerElsewhere = new HoldfastLockProvider(testStore.elsewhere());
        elsewhere = new DefaultLockingTaskExecutor(providerElsewhere);
    }

    private static LockConfiguration lock() {
        return new LockConfiguration(ClockProvider.now(), "report", HOUR, Duration.ZERO);
    }

    @Test
    @DisplayName("one runs a task and the others skip it")
    void runsOnce() throws Throwable {
        TaskResult<String> run = executor.executeWithLock(
                () -> {
                    LockAssert.assertLocked();
                    assertThat(providerElsewhere.lock(lock())).isEmpty();
                    return "done";
                },
                lock());
        assertThat(run.wasExecuted()).isTrue();
        assertThat(run.getResult()).isEqualTo("done");
        assertThat(elsewhere.executeWithLock(() -> "done", lock()).wasExecuted())
                .isTrue();
        store.assertNothingHeld();
    }

    @Test
    @DisplayName("a task that fails gives its lock back, and its failure is told")
    void fails() {
        IllegalStateException failure = new IllegalStateException("the task has failed");
        assertThatThrownBy(() -> executor.executeWithLock(
                        (Runnable) () -> {
                            throw failure;
                        },
                        lock()))
                .isSameAs(failure);
        store.assertNothingHeld();
    }

    @Test
    @DisplayName("a task that has lost its lock ends as it would have, and is not hidden by that")
    void losesLock() throws Throwable {
        TaskResult<String> run = executor.executeWithLock(
                () -> {
                    store.loseLock("shedlock:report");
                    return "done";
                },
                lock());
        assertThat(run.getResult()).isEqualTo("done");
    }

    @Test
    @DisplayName("a task extends its own lock")
    void extendsActiveLock() throws Throwable {
        executor.executeWithLock(
                () -> {
                    store.advance(Duration.ofMinutes(50));
                    LockExtender.extendActiveLock(HOUR, Duration.ZERO);
                    store.advance(Duration.ofMinutes(50));
                    assertThat(providerElsewhere.lock(lock())).isEmpty();
                    return "done";
                },
                lock());
        store.assertNothingHeld();
    }

    @Test
    @DisplayName("a lock that is kept alive is kept until it is unlocked")
    void keepAlive() {
        try (Beats beats = new Beats()) {
            SimpleLock lock =
                    new KeepAliveLockProvider(provider, beats).lock(lock()).orElseThrow();
            for (int i = 0; i < 5; i++) {
                store.advance(HOUR.dividedBy(2));
                beats.task.run();
                assertThat(store.isHeld("shedlock:report")).isTrue();
            }
            lock.unlock();
            store.assertNothingHeld();
        }
    }

    /** Runs what is to be repeated when the test says so. */
    private static final class Beats extends ScheduledThreadPoolExecutor implements AutoCloseable {
        private Runnable task = () -> {};

        Beats() {
            super(1);
        }

        @Override
        public ScheduledFuture<?> scheduleAtFixedRate(Runnable command, long delay, long period, TimeUnit unit) {
            assertThat(unit.toMinutes(period)).isEqualTo(30);
            task = command;
            return super.scheduleAtFixedRate(() -> {}, 1, 1, TimeUnit.DAYS);
        }

        @Override
        public void close() {
            shutdownNow();
        }
    }

    @Test
    @DisplayName("threads of two processes never run a task at the same time")
    void excludes() throws Exception {
        int[] counter = {0}; // guarded by the lock alone
        ExecutorService threads = Executors.newFixedThreadPool(4);
        try {
            List<Future<?>> runs = new ArrayList<>();
            for (LockingTaskExecutor one : List.of(executor, elsewhere, executor, elsewhere)) {
                runs.add(threads.submit(() -> {
                    for (int done = 0; done < 50; ) {
                        done += count(one, counter);
                    }
                }));
            }
            for (Future<?> run : runs) {
                run.get(2, TimeUnit.MINUTES);
            }
        } finally {
            threads.shutdownNow();
        }
        assertThat(counter[0]).isEqualTo(200);
    }

    private static int count(LockingTaskExecutor executor, int[] counter) {
        int[] ran = {0};
        executor.executeWithLock(
                (Runnable) () -> {
                    int before = counter[0];
                    Thread.yield();
                    counter[0] = before + 1;
                    ran[0] = 1;
                },
                lock());
        return ran[0];
    }
}
