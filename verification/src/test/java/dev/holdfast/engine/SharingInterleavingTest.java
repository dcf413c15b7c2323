package dev.holdfast.engine;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.AcquireOptions;
import dev.holdfast.DistributedReadWriteLock;
import dev.holdfast.DistributedSemaphore;
import dev.holdfast.Hold;
import dev.holdfast.Permits;
import dev.holdfast.spi.Order;
import dev.holdfast.spi.ResourceName;
import dev.holdfast.store.memory.ReferenceStore;
import java.time.Duration;
import java.util.concurrent.locks.LockSupport;
import org.jetbrains.lincheck.LincheckAssertionError;
import org.jetbrains.lincheck.datastructures.ModelCheckingOptions;
import org.jetbrains.lincheck.datastructures.Operation;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * As {@link InterleavingTest}, for who shares: a plain field that one changes who has the lock for writing, or all
 * permits, and that others read twice who read, or have one permit.
 */
@DisplayName("Readers and permits keep threads apart however they are interleaved")
class SharingInterleavingTest {

    private static final Duration SLICE = Duration.ofMillis(10);

    /** The field, and two clients. */
    public abstract static class Field {
        private final ReferenceStore common = Interleavings.newStore();
        final Engine alice = client("alice");
        final Engine bob = client("bob");
        private int count;

        private Engine client(String label) {
            return Interleavings.client(store(), label, budget());
        }

        ReferenceStore store() {
            return common;
        }

        /** With none, each hand-over goes by the store. */
        Duration budget() {
            return SLICE;
        }

        void dawdle() {}

        final int change() {
            int before = count;
            dawdle();
            count = before + 1;
            return count;
        }

        /** Its value, unless another thread changes it meanwhile. */
        final int look() {
            int before = count;
            dawdle();
            return count == before ? before : -1;
        }
    }

    /** A semaphore of two permits. */
    public static class Counted extends Field {
        private final DistributedSemaphore here = permits(alice, "permits");
        private final DistributedSemaphore there = permits(bob, "permits");

        private static DistributedSemaphore permits(Engine client, String name) {
            return client.primitives().semaphore(new ResourceName(name), 2, Order.FAIR);
        }

        private int change(DistributedSemaphore permits) throws InterruptedException {
            try (Permits both = permits.acquire(2)) {
                return both.isHeld() ? change() : -1;
            }
        }

        private int look(DistributedSemaphore permits) throws InterruptedException {
            try (Permits one = permits.acquire(1)) {
                return one.isHeld() ? look() : -1;
            }
        }

        @Operation(blocking = true)
        public int changeHere() throws InterruptedException {
            return change(here);
        }

        @Operation(blocking = true)
        public int changeThere() throws InterruptedException {
            return change(there);
        }

        @Operation(blocking = true)
        public int lookHere() throws InterruptedException {
            return look(here);
        }

        @Operation(blocking = true)
        public int lookThere() throws InterruptedException {
            return look(there);
        }

        @Operation(blocking = true)
        public int lookByStage() {
            try (Permits one = here.acquireAsync(1, AcquireOptions.defaults())
                    .toCompletableFuture()
                    .join()) {
                return one.isHeld() ? look() : -1;
            }
        }
    }

    /** A semaphore of two permits in one client, for the explorer, to whom two clients are too much. */
    public static class CountedInOneClient {
        private final Engine alice = Interleavings.client(Interleavings.newStore(), "alice", SLICE);
        private final DistributedSemaphore changes = Counted.permits(alice, "permits");
        private final DistributedSemaphore looks = Counted.permits(alice, lookedAt());
        private int count;

        String lookedAt() {
            return "permits";
        }

        @Operation(blocking = true)
        public int changeHere() throws InterruptedException {
            try (Permits both = changes.acquire(2)) {
                return both.isHeld() ? ++count : -1;
            }
        }

        @Operation(blocking = true)
        public int lookHere() throws InterruptedException {
            try (Permits one = looks.acquire(1)) {
                int before = count;
                return one.isHeld() && count == before ? before : -1;
            }
        }
    }

    /** Readers use permits of another semaphore than writers. */
    public static final class CountedByTwo extends CountedInOneClient {
        @Override
        String lookedAt() {
            return "others";
        }
    }

    /** A read-write lock. */
    public static class ReadAndWritten extends Field {
        private final DistributedReadWriteLock here = lock(alice);
        private final DistributedReadWriteLock there = lock(bob);

        private static DistributedReadWriteLock lock(Engine client) {
            return client.primitives().readWriteLock(new ResourceName("field"), Order.FAIR);
        }

        private int change(DistributedReadWriteLock lock) {
            lock.writeLock().lock();
            int now = change();
            lock.writeLock().unlock();
            return now;
        }

        private int look(DistributedReadWriteLock lock) {
            lock.readLock().lock();
            int now = look();
            lock.readLock().unlock();
            return now;
        }

        @Operation(blocking = true)
        public int changeHere() {
            return change(here);
        }

        @Operation(blocking = true)
        public int changeThere() {
            return change(there);
        }

        @Operation(blocking = true)
        public int lookHere() {
            return look(here);
        }

        @Operation(blocking = true)
        public int lookThere() {
            return look(there);
        }

        /** Writes, then downgrades. */
        @Operation(blocking = true)
        public int changeAndLook() {
            here.writeLock().lock();
            int now = change();
            here.readLock().lock();
            here.writeLock().unlock();
            int still = look();
            here.readLock().unlock();
            return still == now ? now : -1;
        }

        @Operation(blocking = true)
        public int lookByStage() {
            try (Hold reading =
                    here.readLock().acquireAsync().toCompletableFuture().join()) {
                return reading.isHeld() ? look() : -1;
            }
        }
    }

    /** Its clients have a store each, and so nothing keeps them apart. */
    public static final class CountedApart extends Counted {
        @Override
        ReferenceStore store() {
            return Interleavings.newStore();
        }

        @Override
        void dawdle() {
            LockSupport.parkNanos(1_000);
        }
    }

    /** Its clients have a store each, and so nothing keeps them apart. */
    public static final class ReadAndWrittenApart extends ReadAndWritten {
        @Override
        ReferenceStore store() {
            return Interleavings.newStore();
        }

        @Override
        void dawdle() {
            LockSupport.parkNanos(1_000);
        }
    }

    /** Without hand-overs in memory. */
    public static final class CountedByStore extends Counted {
        @Override
        Duration budget() {
            return Duration.ZERO;
        }
    }

    /** Without hand-overs in memory: a kept read grant is released by a timer, and time stands still. */
    public static final class ReadAndWrittenByStore extends ReadAndWritten {
        @Override
        Duration budget() {
            return Duration.ZERO;
        }
    }

    /** The result of each operation without concurrency. */
    public static final class Alone {
        private int count;

        public int changeHere() {
            return ++count;
        }

        public int changeThere() {
            return ++count;
        }

        public int changeAndLook() {
            return ++count;
        }

        public int lookHere() {
            return count;
        }

        public int lookThere() {
            return count;
        }

        public int lookByStage() {
            return count;
        }
    }

    @ParameterizedTest
    @Tag(Interleavings.IN_ITS_OWN_JVM)
    @ValueSource(classes = {Counted.class, CountedByStore.class, ReadAndWrittenByStore.class})
    @DisplayName("by the machine, many times")
    void byTheMachine(Class<?> shared) {
        Interleavings.byTheMachine().sequentialSpecification(Alone.class).check(shared);
    }

    @ParameterizedTest
    @Tag(Interleavings.IN_ITS_OWN_JVM)
    @ValueSource(classes = {CountedApart.class, ReadAndWrittenApart.class})
    @DisplayName("by the machine, which finds out what is not guarded")
    void unguardedByTheMachine(Class<?> shared) {
        assertThatThrownBy(() -> Interleavings.byTheMachine()
                        .sequentialSpecification(Alone.class)
                        .check(shared))
                .isInstanceOf(LincheckAssertionError.class)
                .hasMessageContaining("Invalid execution results");
    }

    @Test
    @Tag(Interleavings.SLOW)
    @DisplayName("by switching threads at any access to memory")
    void byTheExplorer() {
        exploring().check(CountedInOneClient.class);
    }

    @Test
    @Tag(Interleavings.SLOW)
    @DisplayName("by switching threads at any access to memory, which finds out what is not guarded")
    void unguardedByTheExplorer() {
        assertThatThrownBy(() -> exploring().check(CountedByTwo.class))
                .isInstanceOf(LincheckAssertionError.class)
                .hasMessageContaining("Invalid execution results");
    }

    private static ModelCheckingOptions exploring() {
        return Interleavings.byTheExplorer().sequentialSpecification(Alone.class);
    }
}
