package dev.holdfast.verification.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.holdfast.DistributedLock;
import dev.holdfast.Hold;
import dev.holdfast.LockOptions;
import dev.holdfast.verification.world.Actor.Doing;
import dev.holdfast.verification.world.Eventually;
import dev.holdfast.verification.world.World;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicIntegerArray;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@DisplayName("Many threads that want one lock")
class ManyThreadsTest {

    @AutoClose
    private final World world = World.live();

    private final DistributedLock lock = world.client("alice").lock("hot");

    // Plain fields on purpose: nothing but the lock guards them.
    private long counter;
    private long lastToken;
    private boolean tokensRise = true;

    @Test
    @DisplayName("see what the owner before them in this JVM did, whatever way the lock is taken and given back")
    void happensBefore() throws Exception {
        int turns = 4_000;
        List<Doing<?>> doings = new ArrayList<>();
        for (int i = 0; i < 6; i++) {
            int way = i;
            doings.add(world.actor("way-" + i).start(() -> {
                for (int turn = 0; turn < turns; turn++) {
                    guarded(way);
                }
                return true;
            }));
        }
        for (Doing<?> doing : doings) {
            doing.result();
        }
        lock.lock();
        assertThat(counter).isEqualTo(6L * turns);
        lock.unlock();
    }

    private void guarded(int way) throws Exception {
        switch (way) {
            case 0 -> {
                lock.lock();
                counter++;
                lock.unlock();
            }
            case 1 -> {
                try (Hold outer = lock.acquire();
                        Hold inner = lock.acquire()) {
                    assertThat(inner.fencingToken()).isEqualTo(outer.fencingToken());
                    counter++;
                }
            }
            case 2 -> {
                if (!lock.tryLock(1, TimeUnit.MINUTES)) {
                    throw new AssertionError("a minute was not enough");
                }
                counter++;
                lock.unlock();
            }
            case 3 -> {
                while (!lock.tryLock()) {
                    Thread.yield();
                }
                counter++;
                lock.unlock();
            }
            case 4 ->
                lock.<Object, RuntimeException>callWhileHeld(hold -> {
                    counter++;
                    return null;
                });
            default -> {
                Hold hold = lock.acquireAsync().toCompletableFuture().get(1, TimeUnit.MINUTES);
                counter++;
                hold.releaseAsync().toCompletableFuture().get(1, TimeUnit.MINUTES);
            }
        }
    }

    @Test
    @DisplayName("get rising tokens, over the threads of two clients")
    @Tag("C4")
    void tokens() throws Exception {
        DistributedLock other = world.client("bob").lock("hot");
        List<Doing<?>> doings = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            DistributedLock which = i % 2 == 0 ? lock : other;
            doings.add(world.actor("taker-" + i).start(() -> {
                for (int turn = 0; turn < 2_000; turn++) {
                    try (Hold hold = which.acquire()) {
                        long token = hold.fencingToken();
                        tokensRise &= token > lastToken;
                        lastToken = token;
                    }
                }
                return true;
            }));
        }
        for (Doing<?> doing : doings) {
            doing.result();
        }
        assertThat(tokensRise).isTrue();
    }

    @Test
    @DisplayName("all have their turn: nobody starves while the others ask again and again, on a fair lock")
    @Tag("C15")
    void nobodyStarves() throws Exception {
        allHaveTheirTurns(lock);
    }

    @Test
    @DisplayName("all have their turn on a barging lock too, as long as they are of one process")
    void nobodyStarvesBarging() throws Exception {
        allHaveTheirTurns(world.client("bob").lock("barging", LockOptions.barging()));
    }

    @Test
    @DisplayName("of two processes all have their turn")
    @Tag("C15")
    void nobodyStarvesOverProcesses() throws Exception {
        allHaveTheirTurns(lock, world.client("bob").lock("hot"));
    }

    private void allHaveTheirTurns(DistributedLock... locks) throws Exception {
        int threads = 12;
        int turnsForAll = 20;
        AtomicIntegerArray turns = new AtomicIntegerArray(threads);
        AtomicBoolean over = new AtomicBoolean();
        List<Doing<?>> doings = new ArrayList<>();
        for (int i = 0; i < threads; i++) {
            int me = i;
            DistributedLock mine = locks[i % locks.length];
            doings.add(world.actor("asker-" + i).start(() -> {
                while (!over.get()) {
                    mine.lock();
                    turns.incrementAndGet(me);
                    mine.unlock();
                }
                return true;
            }));
        }
        Eventually.holds("each of " + threads + " threads has had " + turnsForAll + " turns, not " + turns, () -> {
            for (int i = 0; i < threads; i++) {
                if (turns.get(i) < turnsForAll) {
                    return false;
                }
            }
            return true;
        });
        over.set(true);
        for (Doing<?> doing : doings) {
            doing.result();
        }
    }

    @Test
    @DisplayName("may be a thousand virtual ones")
    void virtualThreads() throws Exception {
        assumeTrue(Runtime.version().feature() >= 21, "virtual threads are there from JDK 21 on");
        int threads = 1_000;
        int turns = 5;
        ConcurrentLinkedQueue<Throwable> failures = new ConcurrentLinkedQueue<>();
        List<Thread> all = new ArrayList<>();
        for (int i = 0; i < threads; i++) {
            int me = i;
            all.add(startVirtual(() -> {
                try {
                    for (int turn = 0; turn < turns; turn++) {
                        if (me % 3 == 0) {
                            Optional<Hold> hold = lock.tryAcquire(Duration.ofMinutes(1));
                            counter++;
                            hold.orElseThrow().close();
                        } else {
                            lock.lock();
                            counter++;
                            lock.unlock();
                        }
                    }
                } catch (Throwable t) {
                    failures.add(t);
                }
            }));
        }
        for (Thread thread : all) {
            thread.join(Eventually.DEADLINE.toMillis());
            assertThat(thread.isAlive()).isFalse();
        }
        assertThat(failures).isEmpty();
        lock.lock();
        assertThat(counter).isEqualTo((long) threads * turns);
        lock.unlock();
    }

    /** The method is not there for a compiler that builds for JDK 17. */
    private static Thread startVirtual(Runnable task) throws ReflectiveOperationException {
        return (Thread)
                Thread.class.getMethod("startVirtualThread", Runnable.class).invoke(null, task);
    }
}
