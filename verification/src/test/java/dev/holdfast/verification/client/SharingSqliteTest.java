package dev.holdfast.verification.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.AcquireOptions;
import dev.holdfast.DistributedReadWriteLock;
import dev.holdfast.DistributedSemaphore;
import dev.holdfast.Hold;
import dev.holdfast.Holdfast;
import dev.holdfast.LockLostException;
import dev.holdfast.LockMismatchException;
import dev.holdfast.Permits;
import dev.holdfast.verification.world.Eventually;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

@DisplayName("Two clients of one SQLite file share")
class SharingSqliteTest {

    private static final Duration LONG = Duration.ofSeconds(60);

    private final ExecutorService threads = Executors.newCachedThreadPool();

    @TempDir
    private Path folder;

    private Holdfast alice;
    private Holdfast bob;

    @BeforeEach
    void open() {
        String uri = "sqlite://" + folder.resolve("locks.db");
        alice = Holdfast.connect(uri);
        bob = Holdfast.connect(uri);
    }

    @AfterEach
    void close() {
        threads.shutdownNow();
        alice.close();
        bob.close();
    }

    private static <T> T within(CompletableFuture<T> stage) throws Exception {
        return stage.get(LONG.toSeconds(), TimeUnit.SECONDS);
    }

    private void allOf(List<Callable<Boolean>> tasks) throws Exception {
        for (Future<Boolean> task : threads.invokeAll(tasks, 100, TimeUnit.SECONDS)) {
            assertThat(task.get()).isTrue();
        }
    }

    @Test
    @DisplayName("a read-write lock: readers meet, writers don't, and tokens rise")
    @Tag("D1")
    @Tag("D3")
    @Tag("D7")
    void readersAndWriters() throws Exception {
        AtomicInteger readers = new AtomicInteger();
        AtomicInteger writers = new AtomicInteger();
        long[] token = {0};
        List<Callable<Boolean>> tasks = new ArrayList<>();
        for (int i = 0; i < 6; i++) {
            DistributedReadWriteLock lock = (i % 2 == 0 ? alice : bob).readWriteLock("catalogue");
            SplittableRandom random = new SplittableRandom(i);
            tasks.add(() -> {
                for (int n = 0; n < 200; n++) {
                    if (random.nextInt(4) == 0) {
                        try (Hold hold = lock.writeLock().acquire(LONG)) {
                            assertThat(writers.incrementAndGet()).isEqualTo(1);
                            assertThat(readers).hasValue(0);
                            assertThat(hold.fencingToken()).isGreaterThan(token[0]);
                            token[0] = hold.fencingToken();
                            writers.decrementAndGet();
                        }
                    } else {
                        try (Hold hold = lock.readLock().acquire(LONG)) {
                            readers.incrementAndGet();
                            assertThat(writers).hasValue(0);
                            readers.decrementAndGet();
                        }
                    }
                }
                return true;
            });
        }
        allOf(tasks);
    }

    @Test
    @DisplayName("a downgrade keeps the other's writer out and lets its readers in")
    @Tag("D4")
    void downgrade() throws Exception {
        DistributedReadWriteLock here = alice.readWriteLock("catalogue");
        DistributedReadWriteLock there = bob.readWriteLock("catalogue");
        here.writeLock().lock();
        CompletableFuture<Hold> reader = there.readLock().acquireAsync().toCompletableFuture();
        here.readLock().lock();
        here.writeLock().unlock();
        Hold theirs = within(reader);
        assertThat(there.writeLock().tryLock()).isFalse();
        CompletableFuture<Hold> writer = there.writeLock().acquireAsync().toCompletableFuture();
        theirs.close();
        assertThat(writer).isNotDone();
        assertThat(here.readLock().isHeldByCurrentThread()).isTrue();
        here.readLock().unlock();
        within(writer).close();
    }

    @Test
    @DisplayName("who tries to write gets in while the grant is kept for readers")
    @Tag("D9")
    void tryWriteAfterReaders() throws Exception {
        DistributedReadWriteLock lock = alice.readWriteLock("catalogue");
        for (int i = 0; i < 20; i++) {
            Hold first = within(lock.readLock().acquireAsync().toCompletableFuture());
            Hold second = within(lock.readLock().acquireAsync().toCompletableFuture());
            first.close();
            second.close();
            assertThat(lock.writeLock().tryLock()).as("attempt %s", i).isTrue();
            lock.writeLock().unlock();
        }
    }

    @Test
    @DisplayName("permits: never more than there are, and all get theirs")
    @Tag("P1")
    @Tag("P2")
    void permits() throws Exception {
        AtomicInteger used = new AtomicInteger();
        List<Callable<Boolean>> tasks = new ArrayList<>();
        for (int i = 0; i < 6; i++) {
            DistributedSemaphore semaphore = (i % 2 == 0 ? alice : bob).semaphore("gpu", 5);
            SplittableRandom random = new SplittableRandom(i);
            tasks.add(() -> {
                for (int n = 0; n < 100; n++) {
                    int wanted = 1 + random.nextInt(5);
                    try (Permits held =
                            semaphore.acquire(wanted, AcquireOptions.defaults().withMaxWait(LONG))) {
                        assertThat(used.addAndGet(held.permits())).isLessThanOrEqualTo(5);
                        used.addAndGet(-held.permits());
                    }
                }
                return true;
            });
        }
        allOf(tasks);
        Eventually.holds("all are free", () -> alice.semaphore("gpu", 5).availablePermits() == 5);
    }

    @Test
    @DisplayName("a size that either changes, for those who wait at both")
    @Tag("P4")
    void resize() throws Exception {
        DistributedSemaphore here = alice.semaphore("gpu", 4);
        DistributedSemaphore there = bob.semaphore("gpu", 4);
        Permits all = here.acquire(4);
        CompletableFuture<Permits> waiting =
                there.acquireAsync(3, AcquireOptions.defaults()).toCompletableFuture();
        here.resize(7);
        Permits three = within(waiting);
        assertThat(there.availablePermits()).isZero();
        CompletableFuture<Permits> tooMany =
                there.acquireAsync(4, AcquireOptions.defaults()).toCompletableFuture();
        here.resize(2);
        assertThatThrownBy(() -> within(tooMany)).cause().isInstanceOf(LockMismatchException.class);
        all.close();
        three.close();
    }

    @Test
    @DisplayName("permits by their id, with a lease that outlives its client")
    @Tag("P5")
    void byId() throws Exception {
        DistributedSemaphore here = alice.semaphore("gpu", 4);
        DistributedSemaphore there = bob.semaphore("gpu", 4);
        Permits two = here.acquire(2);
        String detached = here.acquire(1, AcquireOptions.defaults().withDetachedLease(Duration.ofMinutes(5)))
                .permitId();
        assertThat(there.release(two.permitId())).isTrue();
        assertThat(there.release(two.permitId())).isFalse();
        assertThatThrownBy(two::close).isInstanceOf(LockLostException.class);
        alice.close();
        assertThat(there.availablePermits()).isEqualTo(3);

        assertThat(there.release(detached)).isTrue();

        assertThat(there.drainPermits().orElseThrow().permits()).isEqualTo(4);
    }
}
