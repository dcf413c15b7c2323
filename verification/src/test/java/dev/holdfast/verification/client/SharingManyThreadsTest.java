package dev.holdfast.verification.client;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.AcquireOptions;
import dev.holdfast.DistributedLock;
import dev.holdfast.DistributedReadWriteLock;
import dev.holdfast.DistributedSemaphore;
import dev.holdfast.Hold;
import dev.holdfast.Holdfast;
import dev.holdfast.LockOptions;
import dev.holdfast.Permits;
import dev.holdfast.StoreUnavailableException;
import dev.holdfast.spi.Command;
import dev.holdfast.verification.world.Actor;
import dev.holdfast.verification.world.Eventually;
import dev.holdfast.verification.world.FaultyLink;
import dev.holdfast.verification.world.World;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

@DisplayName("Many threads that share")
class SharingManyThreadsTest {

    private static final int THREADS = 8;

    @AutoClose
    private final World world = World.live();

    /** What a thread does once. */
    private interface Pass {
        void run(Holdfast client, SplittableRandom random) throws Exception;
    }

    private void crew(int clients, int passes, Pass pass) throws Exception {
        List<Holdfast> all = new ArrayList<>();
        for (int i = 0; i < clients; i++) {
            all.add(world.client("client-" + i));
        }
        List<Actor.Doing<?>> doings = new ArrayList<>();
        for (int i = 0; i < THREADS; i++) {
            Holdfast client = all.get(i % clients);
            SplittableRandom random = new SplittableRandom(i);
            doings.add(world.actor("thread-" + i).start(() -> {
                for (int n = 0; n < passes; n++) {
                    pass.run(client, random);
                }
                return true;
            }));
        }
        for (Actor.Doing<?> doing : doings) {
            doing.result();
        }
    }

    // Plain on purpose: nothing but the write side guards it.
    private long written;
    private long lastToken;
    private final AtomicInteger readers = new AtomicInteger();
    private final AtomicInteger writers = new AtomicInteger();

    @ParameterizedTest(name = "{0} clients, barging: {1}")
    @CsvSource({"1,false", "2,false", "4,false", "2,true"})
    @DisplayName("a writer never meets anybody, readers meet readers, and all of them get in, whatever way they ask")
    @Tag("D1")
    @Tag("D7")
    void readersAndWriters(int clients, boolean isBarging) throws Exception {
        AtomicInteger writes = new AtomicInteger();
        LockOptions options = isBarging ? LockOptions.barging() : LockOptions.fair();
        crew(clients, 2_000, (client, random) -> {
            DistributedReadWriteLock lock = client.readWriteLock("catalogue", options);
            switch (random.nextInt(8)) {
                case 0 -> {
                    try (Hold hold = lock.writeLock().acquire()) {
                        write(hold);
                        writes.incrementAndGet();
                    }
                }
                case 1 -> {
                    Optional<Hold> tried = lock.writeLock().tryAcquire();
                    if (tried.isPresent()) {
                        write(tried.get());
                        writes.incrementAndGet();
                        tried.get().close();
                    }
                }
                case 2 -> {
                    lock.writeLock().lock();
                    writers.incrementAndGet();
                    lock.readLock().lock();
                    writers.decrementAndGet();
                    readers.incrementAndGet();
                    lock.writeLock().unlock();
                    assertThat(writers).hasValue(0);
                    readers.decrementAndGet();
                    lock.readLock().unlock();
                }
                case 3 -> {
                    Hold hold =
                            lock.readLock().acquireAsync().toCompletableFuture().get(60, TimeUnit.SECONDS);
                    read();
                    hold.close();
                }
                case 4 -> {
                    if (triesShortly(lock.readLock(), random)) {
                        read();
                        lock.readLock().unlock();
                    }
                }
                case 5 ->
                    lock.readLock().tryAcquire().ifPresent(hold -> {
                        read();
                        hold.close();
                    });
                default -> {
                    lock.readLock().lock();
                    read();
                    lock.readLock().unlock();
                }
            }
        });
        assertThat(written).isEqualTo(writes.get());
    }

    private static boolean triesShortly(DistributedLock lock, SplittableRandom random) throws InterruptedException {
        try {
            return lock.tryLock(random.nextInt(200), TimeUnit.MICROSECONDS);
        } catch (StoreUnavailableException e) {
            assertThat(e).as("the store took longer").hasMessageContaining("did not answer");
            return false;
        }
    }

    private void write(Hold hold) {
        assertThat(writers.incrementAndGet()).isEqualTo(1);
        assertThat(readers).hasValue(0);
        assertThat(hold.fencingToken()).isGreaterThan(lastToken);
        lastToken = hold.fencingToken();
        written++;
        writers.decrementAndGet();
    }

    private void read() {
        readers.incrementAndGet();
        assertThat(writers).hasValue(0);
        readers.decrementAndGet();
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2})
    @DisplayName("a writer gets in while readers of its process, or of another, come without an end")
    @Tag("D3")
    void noStarvation(int clients) throws Exception {
        Holdfast reading = world.client("reading");
        Holdfast writing = clients == 1 ? reading : world.client("writing");
        AtomicBoolean isOver = new AtomicBoolean();
        AtomicInteger inside = new AtomicInteger();
        List<Actor.Doing<?>> doings = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            doings.add(world.actor("reader-" + i).start(() -> {
                Deque<Hold> held = new ArrayDeque<>();
                // Each thread has two at a time, the next before the last has gone: the lock is never free of readers.
                while (!isOver.get()) {
                    held.add(reading.readWriteLock("catalogue")
                            .readLock()
                            .acquireAsync()
                            .toCompletableFuture()
                            .get(60, TimeUnit.SECONDS));
                    inside.incrementAndGet();
                    if (held.size() > 1 || inside.get() > 6) {
                        held.remove().close();
                        inside.decrementAndGet();
                    }
                    while (reading.readWriteLock("catalogue").readLock().tryLock() && !isOver.get()) {
                        reading.readWriteLock("catalogue").readLock().unlock();
                        if (inside.get() > 4) {
                            break;
                        }
                    }
                    held.forEach(Hold::close);
                    inside.addAndGet(-held.size());
                    held.clear();
                }
                return true;
            }));
        }
        Eventually.holds("they read", () -> inside.get() > 0);
        for (int i = 0; i < 20; i++) {
            try (Hold hold = writing.readWriteLock("catalogue").writeLock().acquire(Duration.ofSeconds(60))) {
                assertThat(hold.isHeld()).isTrue();
            }
        }
        isOver.set(true);
        for (Actor.Doing<?> doing : doings) {
            doing.result();
        }
    }

    private final AtomicInteger used = new AtomicInteger();
    private final AtomicInteger peak = new AtomicInteger();

    @ParameterizedTest(name = "{0} clients, {1} permits, barging: {2}")
    @CsvSource({"1,16,false", "2,16,false", "4,5,false", "2,5,true", "8,3,false"})
    @DisplayName("no more permits are held than there are, and all get theirs, whatever way and how many they ask for")
    @Tag("P1")
    @Tag("P2")
    void permits(int clients, int permits, boolean isBarging) throws Exception {
        LockOptions options = isBarging ? LockOptions.barging() : LockOptions.fair();
        crew(clients, 1_000, (client, random) -> {
            DistributedSemaphore semaphore = client.semaphore("gpu", permits, options);
            int wanted = 1 + (random.nextInt(3) == 0 ? random.nextInt(permits) : random.nextInt(2));
            switch (random.nextInt(6)) {
                case 0 -> semaphore.tryAcquire(wanted).ifPresent(held -> use(held, permits));
                case 1 -> {
                    AcquireOptions shortly =
                            AcquireOptions.defaults().withMaxWait(Duration.ofNanos(random.nextInt(500_000)));
                    try {
                        semaphore.tryAcquire(wanted, shortly).ifPresent(held -> use(held, permits));
                    } catch (StoreUnavailableException e) {
                        assertThat(e).as("the store took longer").hasMessageContaining("did not answer");
                    }
                }
                case 2 ->
                    use(
                            semaphore
                                    .acquireAsync(wanted, AcquireOptions.defaults())
                                    .toCompletableFuture()
                                    .get(60, TimeUnit.SECONDS),
                            permits);
                case 3 -> {
                    CompletableFuture<Permits> asked = semaphore
                            .acquireAsync(wanted, AcquireOptions.defaults())
                            .toCompletableFuture();
                    if (!asked.cancel(true)) {
                        use(asked.join(), permits);
                    }
                }
                case 4 -> use(semaphore.acquire(wanted, FIXED), permits);
                default -> use(semaphore.acquire(wanted), permits);
            }
        });
        assertThat(peak.get()).isPositive();
        DistributedSemaphore semaphore = world.client("last").semaphore("gpu", permits, options);
        Eventually.holds("all permits are free", () -> semaphore.availablePermits() == permits);
    }

    private static final AcquireOptions FIXED = AcquireOptions.defaults().withFixedLease(Duration.ofMinutes(1));

    private void use(Permits held, int permits) {
        int inUse = used.addAndGet(held.permits());
        assertThat(inUse).isLessThanOrEqualTo(permits);
        peak.accumulateAndGet(inUse, Math::max);
        used.addAndGet(-held.permits());
        held.close();
    }

    @Test
    @DisplayName(
            "thousands of grants in one client: each is one command, and letting go of one does not look at the others")
    @Tag("P9")
    void thousandsOfGrants() throws Exception {
        FaultyLink link = world.link();
        DistributedSemaphore semaphore = world.client("alice", link).semaphore("connections", 20_000);
        List<Permits> held = new ArrayList<>();
        for (int i = 0; i < 10_000; i++) {
            held.add(semaphore.acquire());
        }
        assertThat(semaphore.availablePermits()).isEqualTo(10_000);
        assertThat(held).allMatch(Permits::isHeld);
        link.forget();
        for (int i = 0; i < 1_000; i++) {
            held.get(i).close();
            held.set(i, semaphore.acquire());
        }
        assertThat(link.sent(Command.Acquire.class)).hasSize(1_000);
        assertThat(link.sent(Command.Release.class)).hasSize(1_000);
        held.forEach(Permits::close);
    }
}
