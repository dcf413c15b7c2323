package dev.holdfast.shedlock;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.test.TestStore;
import java.time.Duration;
import net.javacrumbs.shedlock.core.ClockProvider;
import net.javacrumbs.shedlock.core.LockConfiguration;
import net.javacrumbs.shedlock.core.LockProvider;
import net.javacrumbs.shedlock.core.SimpleLock;
import net.javacrumbs.shedlock.support.LockException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

@DisplayName("A provider for a rolling deployment")
class RollingLockProviderTest {

    private static final Duration HOUR = Duration.ofHours(1);
    private static final Duration FIVE_MINUTES = Duration.ofMinutes(5);

    private final TestStore store = TestStore.create();
    private final TestStore oldStore = TestStore.create();
    private final HoldfastLockProvider now = new HoldfastLockProvider(store.client());
    private final LockProvider before = new HoldfastLockProvider(oldStore.client(), "before:");
    private final RollingLockProvider rolling = new RollingLockProvider(now, before);

    @AfterEach
    void close() {
        store.close();
        oldStore.close();
    }

    private static LockConfiguration lock(Duration atLeast) {
        return new LockConfiguration(ClockProvider.now(), "report", HOUR, atLeast);
    }

    @Test
    @DisplayName("keeps out who uses either, and is kept out by either")
    void both() {
        SimpleLock lock = rolling.lock(lock(Duration.ZERO)).orElseThrow();
        assertThat(now.lock(lock(Duration.ZERO))).isEmpty();
        assertThat(before.lock(lock(Duration.ZERO))).isEmpty();
        lock.unlock();
        SimpleLock ofNow = now.lock(lock(Duration.ZERO)).orElseThrow();
        assertThat(rolling.lock(lock(Duration.ZERO))).isEmpty();
        assertThat(before.lock(lock(Duration.ZERO))).as("was not touched").isPresent();
        ofNow.unlock();
        assertThat(rolling.lock(lock(FIVE_MINUTES))).isEmpty();
        store.assertNothingHeld();
    }

    @Test
    @DisplayName("keeps both for the least time, from the grant")
    void leastTime() {
        rolling.lock(lock(FIVE_MINUTES)).orElseThrow().unlock();
        assertThat(now.lock(lock(Duration.ZERO))).isEmpty();
        assertThat(before.lock(lock(Duration.ZERO))).isEmpty();
        store.advance(FIVE_MINUTES);
        oldStore.advance(FIVE_MINUTES);
        assertThat(rolling.lock(lock(Duration.ZERO))).isPresent();
    }

    @Test
    @DisplayName("extends both")
    void extend() {
        SimpleLock lock = rolling.lock(lock(Duration.ZERO)).orElseThrow();
        SimpleLock extended = lock.extend(HOUR.multipliedBy(2), FIVE_MINUTES).orElseThrow();
        store.advance(HOUR.plus(FIVE_MINUTES));
        oldStore.advance(HOUR.plus(FIVE_MINUTES));
        assertThat(now.lock(lock(Duration.ZERO))).isEmpty();
        assertThat(before.lock(lock(Duration.ZERO))).isEmpty();
        extended.unlock();
        store.assertNothingHeld();
        oldStore.assertNothingHeld();
    }

    @Test
    @DisplayName("gives up both if one of them is lost")
    void lostOne() {
        SimpleLock lock = rolling.lock(lock(Duration.ZERO)).orElseThrow();
        store.loseLock("shedlock:report");
        assertThat(lock.extend(HOUR, Duration.ZERO)).isEmpty();
        oldStore.assertNothingHeld();
        SimpleLock next = rolling.lock(lock(Duration.ZERO)).orElseThrow();
        oldStore.loseLock("before:report");
        assertThat(next.extend(HOUR, Duration.ZERO)).isEmpty();
        store.assertNothingHeld();
    }

    @Test
    @DisplayName("leaves nothing if the old one fails")
    void oldFails() {
        LockException failure = new LockException("the old one is down");
        RollingLockProvider failing = new RollingLockProvider(now, configuration -> {
            throw failure;
        });
        assertThatThrownBy(() -> failing.lock(lock(FIVE_MINUTES))).isSameAs(failure);
        store.assertNothingHeld();
    }

    @Test
    @DisplayName("can't extend what the old one can't, and still unlocks both")
    void notExtensible() {
        LockProvider plain = configuration -> before.lock(configuration).map(lock -> lock::unlock);
        SimpleLock lock =
                new RollingLockProvider(now, plain).lock(lock(Duration.ZERO)).orElseThrow();
        assertThatThrownBy(() -> lock.extend(HOUR, Duration.ZERO)).isInstanceOf(UnsupportedOperationException.class);
        lock.unlock();
        store.assertNothingHeld();
        oldStore.assertNothingHeld();
    }
}
