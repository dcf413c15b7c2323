package dev.holdfast.shedlock;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.Hold;
import dev.holdfast.Holdfast;
import dev.holdfast.task.TaskOptions;
import dev.holdfast.test.HoldfastExtension;
import dev.holdfast.test.TestStore;
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import net.javacrumbs.shedlock.core.ClockProvider;
import net.javacrumbs.shedlock.core.DefaultLockingTaskExecutor;
import net.javacrumbs.shedlock.core.LockConfiguration;
import net.javacrumbs.shedlock.core.SimpleLock;
import net.javacrumbs.shedlock.support.LockException;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

@ExtendWith(HoldfastExtension.class)
@DisplayName("The provider")
class HoldfastLockProviderTest {

    private static final Duration HOUR = Duration.ofHours(1);
    private static final Duration FIVE_MINUTES = Duration.ofMinutes(5);

    private TestStore store;
    private Holdfast holdfast;
    private HoldfastLockProvider provider;
    private HoldfastLockProvider elsewhere;

    @BeforeEach
    void connect(TestStore testStore, Holdfast client) {
        store = testStore;
        holdfast = client;
        provider = new HoldfastLockProvider(client);
        elsewhere = new HoldfastLockProvider(testStore.elsewhere());
    }

    private static LockConfiguration lock(Duration atMost, Duration atLeast) {
        return new LockConfiguration(ClockProvider.now(), "report", atMost, atLeast);
    }

    @Test
    @DisplayName("refuses a second lock to the same thread, and to another process")
    void neverReenters() {
        SimpleLock lock = provider.lock(lock(HOUR, Duration.ZERO)).orElseThrow();
        assertThat(provider.lock(lock(HOUR, Duration.ZERO))).isEmpty();
        assertThat(elsewhere.lock(lock(HOUR, Duration.ZERO))).isEmpty();
        lock.unlock();
        assertThat(elsewhere.lock(lock(HOUR, Duration.ZERO))).isPresent();
    }

    @Test
    @DisplayName("gives a lock that any thread may unlock, once")
    void threadFree() throws Exception {
        SimpleLock lock = provider.lock(lock(HOUR, Duration.ZERO)).orElseThrow();
        CompletableFuture.runAsync(lock::unlock).get(1, TimeUnit.MINUTES);
        store.assertNothingHeld();
        assertThatThrownBy(lock::unlock)
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("report");
        assertThatThrownBy(() -> lock.extend(HOUR, Duration.ZERO)).isInstanceOf(IllegalStateException.class);
    }

    @Test
    @DisplayName("counts from the grant, whatever the clock of the machine says")
    void countsFromGrant() {
        Instant wrong = ClockProvider.now().minus(Duration.ofDays(3));
        SimpleLock lock = provider.lock(new LockConfiguration(wrong, "report", HOUR, FIVE_MINUTES))
                .orElseThrow();
        lock.unlock();
        assertThat(elsewhere.lock(lock(HOUR, Duration.ZERO))).isEmpty();
        store.advance(FIVE_MINUTES);
        assertThat(elsewhere.lock(lock(HOUR, Duration.ZERO))).isPresent();
    }

    @Test
    @DisplayName("does not renew")
    void doesNotRenew() {
        SimpleLock lock = provider.lock(lock(HOUR, Duration.ZERO)).orElseThrow();
        store.advance(HOUR);
        assertThat(elsewhere.lock(lock(HOUR, Duration.ZERO))).isPresent();
        lock.unlock(); // too late, and nobody else's
        assertThat(provider.lock(lock(HOUR, Duration.ZERO))).isEmpty();
    }

    @Test
    @DisplayName("keeps a lock while its process is away")
    void outlivesProcess() {
        assertThat(provider.lock(lock(HOUR, Duration.ZERO))).isPresent();
        store.pause(Duration.ofMinutes(59));
        assertThat(elsewhere.lock(lock(HOUR, Duration.ZERO))).isEmpty();
    }

    @Test
    @DisplayName("says that the store does not answer, and runs nothing then")
    void storeIsDown() {
        store.goDown();
        DefaultLockingTaskExecutor executor = new DefaultLockingTaskExecutor(provider);
        Runnable never = () -> {
            throw new AssertionError("must not run");
        };
        assertThatThrownBy(() ->
                        store.runWhileTimePasses(() -> executor.executeWithLock(never, lock(HOUR, Duration.ZERO))))
                .isInstanceOf(LockException.class)
                .hasMessageContaining("report");
    }

    @Test
    @DisplayName("says that an extension was not answered, and the lock is still there to unlock")
    void extensionUnanswered() {
        SimpleLock lock = provider.lock(lock(HOUR, Duration.ZERO)).orElseThrow();
        store.loseAnswers();
        assertThatThrownBy(() -> store.callWhileTimePasses(() -> lock.extend(HOUR.multipliedBy(2), FIVE_MINUTES)))
                .isInstanceOf(LockException.class);
        store.recover();
        lock.unlock();
        store.assertNothingHeld();
    }

    @Test
    @DisplayName("extends to times from now, and checks them as ShedLock does")
    void extend() {
        SimpleLock lock = provider.lock(lock(HOUR, Duration.ZERO)).orElseThrow();
        assertThatThrownBy(() -> lock.extend(FIVE_MINUTES, HOUR))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("report");
        store.advance(Duration.ofMinutes(50));
        SimpleLock extended = lock.extend(HOUR, FIVE_MINUTES).orElseThrow();
        store.advance(Duration.ofMinutes(50));
        assertThat(elsewhere.lock(lock(HOUR, Duration.ZERO))).isEmpty();
        extended.unlock();
        assertThat(elsewhere.lock(lock(HOUR, Duration.ZERO))).isPresent();
    }

    @Test
    @DisplayName("does not extend what is lost")
    void lost() {
        SimpleLock lock = provider.lock(lock(HOUR, Duration.ZERO)).orElseThrow();
        store.loseLock("shedlock:report");
        assertThat(lock.extend(HOUR, Duration.ZERO)).isEmpty();
        assertThatThrownBy(lock::unlock).isInstanceOf(IllegalStateException.class);
    }

    @Test
    @DisplayName("has names of its own, or shares them with tasks if there is no prefix")
    void names() throws Exception {
        try (Hold hold = holdfast.lock("report").acquire()) {
            SimpleLock lock = provider.lock(lock(HOUR, Duration.ZERO)).orElseThrow();
            assertThat(hold.isHeld()).isTrue();
            lock.unlock();
        }
        HoldfastLockProvider shared = new HoldfastLockProvider(holdfast, "");
        SimpleLock lock = shared.lock(lock(HOUR, Duration.ZERO)).orElseThrow();
        TaskOptions options = TaskOptions.atMost(HOUR);
        assertThat(store.elsewhere()
                        .task("report")
                        .runIfDue(options, hold -> {})
                        .hasRun())
                .isFalse();
        lock.unlock();
        assertThat(store.elsewhere()
                        .task("report")
                        .runIfDue(options, hold -> {})
                        .hasRun())
                .isTrue();
    }

    @Test
    @DisplayName("refuses names that are too long, and a closed client")
    void refuses() {
        LockConfiguration tooLong = new LockConfiguration(ClockProvider.now(), "x".repeat(512), HOUR, Duration.ZERO);
        assertThatThrownBy(() -> provider.lock(tooLong)).isInstanceOf(IllegalArgumentException.class);
        holdfast.close();
        assertThatThrownBy(() -> provider.lock(lock(HOUR, Duration.ZERO))).isInstanceOf(LockException.class);
    }
}
