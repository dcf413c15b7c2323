package dev.holdfast.test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.holdfast.DistributedLock;
import dev.holdfast.DistributedReadWriteLock;
import dev.holdfast.Hold;
import dev.holdfast.Holdfast;
import dev.holdfast.Lockable;
import dev.holdfast.MultiHold;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

@DisplayName("The order of locks")
class LockOrderTest {

    private final LockOrder order = LockOrder.throwing();
    private final TestStore store = TestStore.create(builder -> builder.listener(order));
    private final Holdfast holdfast = store.client();
    private final DistributedReadWriteLock first = holdfast.readWriteLock("first");
    private final DistributedReadWriteLock second = holdfast.readWriteLock("second");

    @AfterEach
    void close() {
        store.assertNothingHeld();
        store.close();
    }

    private DistributedLock lock(String name) {
        return holdfast.lock(name);
    }

    /** Acquires locks one inside the other, and releases them. */
    private static void nest(DistributedLock... locks) throws InterruptedException {
        Deque<Hold> holds = new ArrayDeque<>();
        try {
            for (DistributedLock lock : locks) {
                holds.push(lock.acquire());
            }
        } finally {
            holds.forEach(Hold::close);
        }
    }

    private void nest(String... names) throws InterruptedException {
        DistributedLock[] locks = new DistributedLock[names.length];
        for (int i = 0; i < names.length; i++) {
            locks[i] = lock(names[i]);
        }
        nest(locks);
    }

    private static AssertionError inversion(Attempt attempt) {
        return catchThrowableOfType(AssertionError.class, attempt::run);
    }

    private interface Attempt {
        void run() throws Exception;
    }

    private static void inThread(String name, Attempt attempt) throws Exception {
        FutureTask<Boolean> task = new FutureTask<>(() -> {
            attempt.run();
            return true;
        });
        Thread thread = new Thread(task, name);
        thread.start();
        try {
            task.get(1, TimeUnit.MINUTES);
        } catch (ExecutionException e) {
            throw new IllegalStateException(e.getCause());
        }
    }

    @Test
    @DisplayName("that differs between threads fails the second one before it waits, with both stack traces")
    void opposite() throws Exception {
        inThread("worker-1", this::orderThenStock);
        Hold stock = lock("stock").acquire();
        AssertionError inversion = inversion(() -> lock("order").acquire().close());
        assertThat(inversion)
                .hasMessage("Locks are acquired in different orders, which can deadlock: thread "
                        + Thread.currentThread().getName() + " acquires 'order' while it holds 'stock'; thread "
                        + "worker-1 acquires 'stock' while it holds 'order'. Acquire these names in one order "
                        + "everywhere, or together with lockAll.");
        assertThat(inversion).hasStackTraceContaining("LockOrderTest.opposite");
        assertThat(inversion.getSuppressed())
                .singleElement()
                .satisfies(other -> assertThat(other.getStackTrace())
                        .extracting(StackTraceElement::getMethodName)
                        .contains("orderThenStock"));
        assertThat(stock.isHeld()).isTrue();
        assertThat(store.waiting("order")).isZero();
        assertThat(inversion(() -> lock("order").lock())).as("each time").isNotNull();
        assertThat(order.inversions()).containsExactly(inversion);
        stock.close();
    }

    private void orderThenStock() throws InterruptedException {
        nest("order", "stock");
    }

    @Test
    @DisplayName("is compared over three names, and over all waits of one thread")
    void three() throws Exception {
        nest("a", "b");
        nest("b", "c");
        assertThat(order.inversions()).isEmpty();
        assertThat(inversion(() -> nest("c", "a")))
                .hasMessageContainingAll(
                        "acquires 'a' while it holds 'c'",
                        "acquires 'b' while it holds 'a'",
                        "acquires 'c' while it holds 'b'");
        nest("x", "y", "z");
        assertThat(inversion(() -> nest("z", "x"))).hasMessageContaining("acquires 'z' while it holds 'x', 'y'");
    }

    @Test
    @DisplayName("may differ under a common outer lock that excludes others, and nowhere else")
    void gate() throws Exception {
        nest("gate", "a", "b");
        nest("gate", "b", "a");
        nest(first.writeLock(), lock("c"), lock("d"));
        nest(first.readLock(), lock("d"), lock("c"));
        assertThat(order.inversions()).isEmpty();
        assertThat(inversion(() -> nest("b", "a"))).isNotNull();
        nest(second.readLock(), lock("e"), lock("f"));
        assertThat(inversion(() -> nest(second.readLock(), lock("f"), lock("e"))))
                .isNotNull();
    }

    @Test
    @DisplayName("may differ in three names if two of them are acquired under a common outer lock")
    void gateOfTwo() throws Exception {
        nest("gate", "a", "b");
        nest("gate", "b", "c");
        nest("c", "a");
        assertThat(order.inversions()).isEmpty();
        assertThat(inversion(() -> nest("b", "c"))).isNotNull();
    }

    @Test
    @DisplayName("ignores attempts that don't wait, but not what is acquired by one")
    void tries() throws Exception {
        nest("a", "b");
        Hold outer = lock("b").acquire();
        lock("a").tryAcquire().orElseThrow().close();
        assertThat(lock("a").tryLock()).isTrue();
        lock("c").acquire().close();
        lock("a").unlock();
        outer.close();
        assertThat(order.inversions()).isEmpty();
        assertThat(inversion(() -> nest("c", "a"))).isNotNull();
    }

    @Test
    @DisplayName("ignores asynchronous holds and permits, which any thread may release")
    void unowned() throws Exception {
        nest("a", "b");
        Hold async = lock("b").acquireAsync().toCompletableFuture().get(1, TimeUnit.MINUTES);
        lock("a").acquire().close();
        async.close();
        try (Hold permits = holdfast.semaphore("permits", 2).acquire()) {
            assertThat(permits.isHeld()).isTrue();
            lock("a").acquire().close();
        }
        try (Hold outer = lock("a").acquire()) {
            assertThat(outer.isHeld()).isTrue();
            holdfast.semaphore("permits", 2).acquire().close();
            lock("b")
                    .acquireAsync()
                    .toCompletableFuture()
                    .get(1, TimeUnit.MINUTES)
                    .close();
        }
        assertThat(order.inversions()).isEmpty();
    }

    @Test
    @DisplayName("of the parts of multi-locks is always the same, whatever was held before")
    void multi() throws Exception {
        Lockable a = lock("a");
        Lockable b = lock("b");
        holdfast.lockAll(a, b).acquire().close();
        holdfast.lockAll(b, a).acquire().close();
        try (Hold held = lock("b").acquire();
                MultiHold all = holdfast.lockAll(a, b).acquire()) {
            assertThat(held.isHeld() && all.isHeld()).isTrue();
        }
        assertThat(order.inversions()).isEmpty();
        assertThat(inversion(() -> nest("b", "a"))).isNotNull();
        try (Hold outer = lock("outer").acquire()) {
            assertThat(outer.isHeld()).isTrue();
            holdfast.lockAll(a, b).acquire().close();
        }
        assertThat(inversion(() -> nest("b", "outer"))).isNotNull();
    }

    @Test
    @DisplayName("of read locks matters when a writer waits, which the report says")
    void readers() throws Exception {
        nest(first.readLock(), second.readLock());
        assertThat(inversion(() -> nest(second.readLock(), first.readLock())))
                .hasMessageContaining("which can deadlock when a writer waits: ");
        assertThat(inversion(() -> nest(second.writeLock(), first.writeLock())))
                .hasMessageContaining("which can deadlock: ");
    }

    @Test
    @DisplayName("ignores re-entrant acquisitions, and what is released or lost")
    void over() throws Exception {
        nest("a", "b", "a");
        lock("x").lock();
        assertThat(lock("y").tryLock()).isTrue();
        lock("x").unlock();
        nest("z");
        lock("y").unlock();
        nest("z", "x");
        Hold lost = lock("d").acquire();
        store.loseLock("d");
        lock("e").acquire().close();
        assertThat(catchThrowableOfType(RuntimeException.class, lost::close)).isNotNull();
        nest("e", "d");
        assertThat(order.inversions()).isEmpty();
    }

    @Test
    @DisplayName("that only warns lets all threads go on, and collects each set of names once")
    void warning() throws Exception {
        LockOrder warning = LockOrder.warning();
        try (Holdfast other = store.builder().listener(warning).build()) {
            DistributedLock a = other.lock("a");
            DistributedLock b = other.lock("b");
            nest(a, b);
            nest(b, a);
            nest(b, a);
            nest(other.lock("x"), b, a);
            assertThat(warning.inversions())
                    .singleElement()
                    .satisfies(inversion -> assertThat(inversion).hasMessageContaining("can deadlock"));
        }
    }
}
