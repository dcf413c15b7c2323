package dev.holdfast.spring.integration;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.Hold;
import dev.holdfast.Holdfast;
import dev.holdfast.LockLostException;
import dev.holdfast.test.HoldfastExtension;
import dev.holdfast.test.TestStore;
import java.time.Duration;
import java.util.ConcurrentModificationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.Lock;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.dao.CannotAcquireLockException;
import org.springframework.dao.DataAccessResourceFailureException;
import org.springframework.integration.support.locks.DistributedLock;

@ExtendWith(HoldfastExtension.class)
@DisplayName("The lock registry")
class HoldfastLockRegistryTest {

    private static final Duration TTL = Duration.ofSeconds(30);
    private static final Duration MINUTE = Duration.ofMinutes(1);
    private static final String NAME = HoldfastLockRegistry.DEFAULT_PREFIX + "order";

    private TestStore store;
    private Holdfast holdfast;
    private HoldfastLockRegistry registry;
    private DistributedLock lock;
    private DistributedLock elsewhere;

    @BeforeEach
    void connect(TestStore testStore, Holdfast client) {
        store = testStore;
        holdfast = client;
        registry = new HoldfastLockRegistry(client);
        lock = registry.obtain("order");
        elsewhere = new HoldfastLockRegistry(testStore.elsewhere()).obtain("order");
    }

    // ---- Locks

    @Test
    @DisplayName("gives one object for a key, for as long as somebody refers to it")
    void obtains() {
        assertThat(registry.obtain("order")).isSameAs(lock);
        assertThat(registry.obtain("other")).isNotSameAs(lock);
        registry.expireUnusedOlderThan(0);
        assertThat(registry.obtain("order")).isSameAs(lock);
        assertThatThrownBy(() -> registry.obtain(7))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("Integer");
        assertThatThrownBy(() -> registry.obtain("x".repeat(512))).isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    @DisplayName("knows who holds a lock, whatever object was used")
    void locksWithoutReference() throws Exception {
        registry.obtain("order").lock();
        System.gc();
        assertThat(elsewhere.tryLock()).isFalse();
        assertThat(CompletableFuture.supplyAsync(() -> registry.obtain("order").tryLock())
                        .get(1, TimeUnit.MINUTES))
                .isFalse();
        registry.obtain("order").unlock();
        assertThat(elsewhere.tryLock()).isTrue();
    }

    @Test
    @DisplayName("is re-entrant, and keeps others out until the last unlock")
    void reentrant() throws Exception {
        lock.lock();
        lock.lockInterruptibly();
        assertThat(lock.tryLock()).isTrue();
        assertThat(lock.tryLock(1, TimeUnit.SECONDS)).isTrue();
        for (int i = 0; i < 3; i++) {
            lock.unlock();
            assertThat(elsewhere.tryLock()).isFalse();
        }
        lock.unlock();
        store.assertNothingHeld();
        assertThatThrownBy(lock::unlock).isInstanceOf(IllegalMonitorStateException.class);
    }

    @Test
    @DisplayName("renews what is held without being asked to")
    void renews() {
        lock.lock();
        store.advance(Duration.ofHours(1));
        registry.renewLock("order");
        registry.renewLock("order", MINUTE);
        assertThat(elsewhere.tryLock()).isFalse();
        lock.unlock();
    }

    @Test
    @DisplayName("runs what is to be run under a lock, or says that the time is over")
    void executes() throws Exception {
        assertThat((String) registry.executeLocked("order", () -> {
                    store.assertHeld(NAME);
                    return "done";
                }))
                .isEqualTo("done");
        store.assertNothingHeld();
        elsewhere.lock();
        assertThatThrownBy(() -> store.runWhileTimePasses(() -> registry.executeLocked("order", MINUTE, () -> {})))
                .isInstanceOf(TimeoutException.class);
        elsewhere.unlock();
    }

    @Test
    @DisplayName("ends a wait by an interrupt where that is promised, and keeps it where not")
    void interrupts() throws Exception {
        Hold other = store.take(NAME);
        Thread.currentThread().interrupt();
        assertThatThrownBy(lock::lockInterruptibly).isInstanceOf(InterruptedException.class);
        assertThat(Thread.interrupted()).isFalse();
        store.after(MINUTE, other::close);
        Thread.currentThread().interrupt();
        store.runWhileTimePasses(() -> lock.lock(MINUTE));
        assertThat(Thread.interrupted()).isTrue();
        lock.unlock();
    }

    @Test
    @DisplayName("has no conditions")
    void noConditions() {
        assertThatThrownBy(lock::newCondition).isInstanceOf(UnsupportedOperationException.class);
    }

    @Test
    @DisplayName("with an empty prefix has the locks of Holdfast with these names")
    void prefix() {
        Lock shared = new HoldfastLockRegistry(holdfast, "").obtain("order");
        shared.lock();
        assertThat(store.elsewhere().lock("order").tryAcquire()).isEmpty();
        shared.unlock();
    }

    // ---- A time of its own

    @Test
    @DisplayName("keeps a lock with a time of its own for that time, and no longer")
    void ownTime() throws Exception {
        lock.lock(MINUTE);
        store.advance(Duration.ofSeconds(50));
        assertThat(elsewhere.tryLock()).isFalse();
        registry.renewLock("order", MINUTE);
        store.advance(Duration.ofSeconds(50));
        assertThat(elsewhere.tryLock()).isFalse();
        store.advance(Duration.ofSeconds(10));
        assertThat(elsewhere.tryLock(Duration.ZERO, MINUTE)).isTrue();
        assertThatThrownBy(lock::unlock).isInstanceOf(ConcurrentModificationException.class);
        assertThatThrownBy(lock::unlock).isInstanceOf(IllegalMonitorStateException.class);
    }

    @Test
    @DisplayName("rounds a time under 200 ms up to that")
    void shortTime() throws Exception {
        lock.lock(Duration.ofMillis(1));
        lock.unlock();
        assertThat(lock.tryLock(Duration.ZERO, Duration.ofMillis(100))).isTrue();
        store.advance(Duration.ofMillis(150));
        assertThat(elsewhere.tryLock()).isFalse();
        registry.renewLock("order", Duration.ofMillis(100));
        store.advance(Duration.ofMillis(150));
        assertThat(elsewhere.tryLock()).isFalse();
        store.advance(Duration.ofMillis(50));
        assertThat(elsewhere.tryLock()).isTrue();
    }

    @Test
    @DisplayName("says that a thread doesn't own what it unlocks, in the words of Spring Integration")
    void notOwned() {
        assertThatThrownBy(lock::unlock)
                .isInstanceOf(IllegalMonitorStateException.class)
                .hasMessage("You do not own lock at order");
    }

    @Test
    @DisplayName("sets the time anew when its holder locks again with one")
    void ownTimeAgain() throws Exception {
        lock.lock(MINUTE);
        store.advance(Duration.ofSeconds(50));
        lock.lock(MINUTE);
        store.advance(Duration.ofSeconds(50));
        assertThat(lock.tryLock(Duration.ZERO, MINUTE)).isTrue();
        assertThat(elsewhere.tryLock()).isFalse();
        lock.unlock();
        lock.unlock();
        lock.unlock();
        store.assertNothingHeld();
    }

    @Test
    @DisplayName("goes on renewing what was locked without a time, whatever is said by its holder later")
    void ownTimeInside() {
        lock.lock();
        lock.lock(MINUTE);
        store.advance(Duration.ofHours(1));
        assertThat(elsewhere.tryLock()).isFalse();
        lock.unlock();
        lock.unlock();
        store.assertNothingHeld();
    }

    @Test
    @DisplayName("renews the same time if none is given")
    void renewsSameTime() {
        lock.lock(Duration.ofSeconds(10));
        store.advance(Duration.ofSeconds(8));
        registry.renewLock("order");
        store.advance(Duration.ofSeconds(8));
        assertThat(elsewhere.tryLock()).isFalse();
        lock.unlock();
    }

    @Test
    @DisplayName("renews nothing that the thread does not hold")
    void renewsNothing() throws Exception {
        assertThatThrownBy(() -> registry.renewLock("order")).isInstanceOf(IllegalStateException.class);
        lock.lock();
        assertThatThrownBy(() -> CompletableFuture.runAsync(() -> registry.renewLock("order"))
                        .get(1, TimeUnit.MINUTES))
                .hasCauseInstanceOf(IllegalStateException.class);
        store.loseLock(NAME);
        assertThatThrownBy(() -> registry.renewLock("order")).isInstanceOf(IllegalStateException.class);
    }

    // ---- Loss and trouble

    @Test
    @DisplayName("tells a loss when the lock is unlocked")
    void lossAtUnlock() {
        lock.lock();
        lock.lock();
        store.pause(TTL.plusSeconds(1));
        assertThat(elsewhere.tryLock()).isTrue();
        assertThatThrownBy(lock::unlock)
                .isInstanceOf(ConcurrentModificationException.class)
                .hasCauseInstanceOf(LockLostException.class);
        assertThatThrownBy(lock::unlock).isInstanceOf(ConcurrentModificationException.class);
        assertThat(elsewhere.tryLock()).as("was not touched").isTrue();
        assertThatThrownBy(lock::unlock).isInstanceOf(IllegalMonitorStateException.class);
    }

    @Test
    @DisplayName("tells a loss to who tries again what it has, once, and lets it try anew")
    void lossAtTry() throws Exception {
        lock.lock();
        lock.lock();
        store.loseLock(NAME);
        assertThat(lock.tryLock()).isFalse();
        assertThat(lock.tryLock()).as("anew").isTrue();
        store.loseLock(NAME);
        assertThat(lock.tryLock(1, TimeUnit.SECONDS)).isFalse();
        assertThat(lock.tryLock(1, TimeUnit.SECONDS)).isTrue();
        store.loseLock(NAME);
        assertThat(lock.tryLock(Duration.ZERO, MINUTE)).isFalse();
        assertThat(lock.tryLock(Duration.ZERO, MINUTE)).isTrue();
        lock.unlock();
        store.assertNothingHeld();
    }

    @Test
    @DisplayName("does not lock again what its thread has lost and not given up")
    void lossAtLock() {
        lock.lock();
        store.loseLock(NAME);
        assertThatThrownBy(lock::lock).isInstanceOf(CannotAcquireLockException.class);
        assertThatThrownBy(() -> lock.lock(MINUTE)).isInstanceOf(CannotAcquireLockException.class);
        assertThatThrownBy(lock::unlock).isInstanceOf(ConcurrentModificationException.class);
        lock.lock();
        lock.unlock();
    }

    @Test
    @DisplayName("says that the store does not answer")
    void storeIsDown() {
        store.goDown();
        assertThatThrownBy(() -> store.runWhileTimePasses(lock::lock)).isInstanceOf(CannotAcquireLockException.class);
        assertThatThrownBy(() -> store.runWhileTimePasses(() -> lock.lock(MINUTE)))
                .isInstanceOf(CannotAcquireLockException.class);
        assertThatThrownBy(() -> store.callWhileTimePasses(lock::tryLock))
                .isInstanceOf(CannotAcquireLockException.class);
        store.recover();
        lock.lock();
        store.goSilent();
        assertThatThrownBy(() -> store.runWhileTimePasses(lock::unlock))
                .isInstanceOf(DataAccessResourceFailureException.class);
        assertThatThrownBy(lock::unlock).isInstanceOf(IllegalMonitorStateException.class);
    }

    @Test
    @DisplayName("says that the client was closed")
    void closed() {
        lock.lock();
        holdfast.close();
        assertThatThrownBy(lock::unlock).isInstanceOf(ConcurrentModificationException.class);
        assertThatThrownBy(lock::lock).isInstanceOf(CannotAcquireLockException.class);
    }
}
