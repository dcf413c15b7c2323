package dev.holdfast.engine;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.AcquireOptions;
import dev.holdfast.DistributedLock;
import dev.holdfast.Hold;
import dev.holdfast.spi.Order;
import dev.holdfast.spi.ResourceName;
import dev.holdfast.store.memory.ReferenceStore;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.jetbrains.lincheck.LincheckAssertionError;
import org.jetbrains.lincheck.datastructures.ModelCheckingOptions;
import org.jetbrains.lincheck.datastructures.Operation;
import org.jetbrains.lincheck.datastructures.StressOptions;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * A counter of plain fields, guarded by the lock only, must behave as if each operation were atomic, and every
 * operation must end, however a few threads are interleaved.
 *
 * <p>The explorer decides at each memory access which thread continues. It takes a minute or two and needs packages of
 * the JDK opened to it, so it runs by {@code ./mvnw -Pinterleavings verify} only.
 */
@DisplayName("The local tier keeps threads apart however they are interleaved")
class InterleavingTest {

    /** The counter, and the same again for two processes. */
    public static class Counter {

        private final ReferenceStore store = Interleavings.newStore();
        private final DistributedLock lock = lockOf("alice");
        private final DistributedLock elsewhere = lockOf("bob");
        private int count;

        private DistributedLock lockOf(String label) {
            return Interleavings.client(store(), label, budget())
                    .primitives()
                    .lock(new ResourceName("counter"), Order.FAIR);
        }

        ReferenceStore store() {
            return store;
        }

        final int increment() {
            int before = count;
            dawdle();
            count = before + 1;
            return count;
        }

        void dawdle() {}

        /** With none, each hand-over goes by the store. */
        Duration budget() {
            return Duration.ZERO;
        }

        @Operation(blocking = true)
        public int byThread() {
            lock.lock();
            int now = increment();
            lock.unlock();
            return now;
        }

        @Operation(blocking = true)
        public int elsewhere() {
            elsewhere.lock();
            int now = increment();
            elsewhere.unlock();
            return now;
        }

        @Operation(blocking = true)
        public int byStage() {
            Hold hold = lock.acquireAsync().toCompletableFuture().join();
            int now = increment();
            hold.close();
            return now;
        }

        @Operation(blocking = true)
        public int inTime() throws InterruptedException {
            if (!lock.tryLock(1, TimeUnit.DAYS)) {
                throw new AssertionError("time stands still, and yet it was up");
            }
            int now = increment();
            lock.unlock();
            return now;
        }

        @Operation(blocking = true)
        public int bounded() throws InterruptedException {
            try (Hold outer = lock.acquire(AcquireOptions.defaults().withFixedLease(Duration.ofSeconds(20)));
                    Hold inner = lock.acquire()) {
                return inner.fencingToken() == outer.fencingToken() ? increment() : -1;
            }
        }
    }

    /** As above, but with hand-overs in memory: time stands still, so the budget is never spent. */
    public static final class HandedOver extends Counter {
        @Override
        Duration budget() {
            return Duration.ofMillis(10);
        }
    }

    /** Each process has a store to itself, and so nothing keeps them apart; the threads of one still are. */
    public static final class Apart extends Counter {
        @Override
        ReferenceStore store() {
            return Interleavings.newStore();
        }

        @Override
        void dawdle() {
            longEnoughForOthers();
        }
    }

    /** So that the machine lets others in for sure; the explorer needs no such help. */
    private static void longEnoughForOthers() {
        LockSupport.parkNanos(1_000);
    }

    /** A counter without a lock. */
    public static final class Unguarded {
        private int count;

        @Operation
        public int byThread() {
            int before = count;
            longEnoughForOthers();
            count = before + 1;
            return count;
        }
    }

    /** The result of each operation without concurrency. */
    public static final class Alone {
        private int count;

        public int byThread() {
            return ++count;
        }

        public int elsewhere() {
            return ++count;
        }

        public int byStage() {
            return ++count;
        }

        public int inTime() {
            return ++count;
        }

        public int bounded() {
            return ++count;
        }
    }

    @ParameterizedTest
    @Tag(Interleavings.IN_ITS_OWN_JVM)
    @ValueSource(classes = {Counter.class, HandedOver.class})
    @DisplayName("by the machine, many times")
    void byTheMachine(Class<?> counter) {
        stressing().check(counter);
    }

    @ParameterizedTest
    @Tag(Interleavings.IN_ITS_OWN_JVM)
    @ValueSource(classes = {Unguarded.class, Apart.class})
    @DisplayName("by the machine, which finds out a counter that is not guarded")
    void unguardedByTheMachine(Class<?> counter) {
        assertThatThrownBy(() -> stressing().check(counter))
                .isInstanceOf(LincheckAssertionError.class)
                .hasMessageContaining("Invalid execution results");
    }

    @ParameterizedTest
    @Tag(Interleavings.SLOW)
    @ValueSource(classes = {Counter.class, HandedOver.class})
    @DisplayName("by switching threads at any access to memory")
    void byTheExplorer(Class<?> counter) {
        exploring().check(counter);
    }

    @ParameterizedTest
    @Tag(Interleavings.SLOW)
    @ValueSource(classes = {Unguarded.class, Apart.class})
    @DisplayName("by switching threads at any access to memory, which finds out a counter that is not guarded")
    void unguardedByTheExplorer(Class<?> counter) {
        assertThatThrownBy(() -> exploring().check(counter))
                .isInstanceOf(LincheckAssertionError.class)
                .hasMessageContaining("Invalid execution results");
    }

    private static StressOptions stressing() {
        return Interleavings.byTheMachine().sequentialSpecification(Alone.class);
    }

    private static ModelCheckingOptions exploring() {
        return Interleavings.byTheExplorer().sequentialSpecification(Alone.class);
    }
}
