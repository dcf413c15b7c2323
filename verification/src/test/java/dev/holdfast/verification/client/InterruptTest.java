package dev.holdfast.verification.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.AcquireOptions;
import dev.holdfast.DistributedLock;
import dev.holdfast.Hold;
import dev.holdfast.Holdfast;
import dev.holdfast.verification.world.Actor;
import dev.holdfast.verification.world.Actor.Doing;
import dev.holdfast.verification.world.Eventually;
import dev.holdfast.verification.world.FaultyLink;
import dev.holdfast.verification.world.World;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@DisplayName("An interrupt")
class InterruptTest {

    @AutoClose
    private final World world = World.live();

    private final FaultyLink link = world.link();
    private final Holdfast holdfast = world.client("alice", link);
    private final DistributedLock lock = holdfast.lock("ledger");
    private final Actor holder = world.actor("holder");
    private final Actor waiter = world.actor("waiter");

    private List<Callable<?>> interruptible() {
        return List.of(
                () -> {
                    lock.lockInterruptibly();
                    return true;
                },
                () -> lock.tryLock(1, TimeUnit.HOURS),
                () -> lock.acquire(),
                () -> lock.acquire(Duration.ofHours(1)),
                () -> lock.acquire(AcquireOptions.defaults()),
                () -> lock.acquire(AcquireOptions.defaults().withFixedLease(Duration.ofMinutes(1))),
                () -> lock.tryAcquire(Duration.ofHours(1)),
                () -> lock.tryAcquire(AcquireOptions.defaults()),
                () -> lock.<Boolean, RuntimeException>callWhileHeld(hold -> true));
    }

    @Test
    @DisplayName(
            "that is pending ends the call before the store is asked, also for a free lock, and the flag is cleared")
    @Tag("C5")
    void pendingBefore() throws Exception {
        link.forget();
        for (Callable<?> acquiring : interruptible()) {
            assertThatThrownBy(() -> waiter.call(() -> {
                        Thread.currentThread().interrupt();
                        return acquiring.call();
                    }))
                    .isInstanceOf(InterruptedException.class)
                    .hasMessageContaining("ledger");
            assertThat(waiter.<Boolean>call(Thread::interrupted)).isFalse();
        }
        assertThat(waiter.<Integer>call(lock::holdCount)).isZero();
        assertThat(link.sent()).isEmpty();
    }

    @Test
    @DisplayName("that is pending ends a re-entrant call too, and the outer hold stays as it was")
    void pendingBeforeReentry() throws Exception {
        Hold outer = waiter.call(() -> lock.acquire());

        assertThatThrownBy(() -> waiter.call(() -> {
                    Thread.currentThread().interrupt();
                    return lock.acquire();
                }))
                .isInstanceOf(InterruptedException.class);

        assertThat(waiter.<Integer>call(lock::holdCount)).isEqualTo(1);
        waiter.run(outer::close);
    }

    @Test
    @DisplayName(
            "that comes while waiting ends the wait; the request holds nothing later and leaves nothing at the store")
    @Tag("C5")
    void whileWaiting() throws Exception {
        DistributedLock theirs = world.client("bob").lock("ledger");
        Hold held = holder.call(() -> theirs.acquire());
        for (Callable<?> acquiring : interruptible()) {
            Doing<?> waiting = waiter.startWaiting(acquiring);
            assertThat(world.waitersOf("ledger")).isEqualTo(1);

            waiter.interrupt();

            assertThatThrownBy(waiting::result).isInstanceOf(InterruptedException.class);
            assertThat(waiter.<Boolean>call(Thread::interrupted)).isFalse();
            assertThat(world.waitersOf("ledger")).isZero();
        }
        holder.run(held::close);
        assertThat(waiter.<Boolean>call(lock::isHeldByCurrentThread)).isFalse();
        world.awaitIdle();
    }

    @Test
    @DisplayName("does not end lock(), before or while waiting; the flag is set on return, and unlock() works with it")
    void lockSurvives() throws Exception {
        Hold held = holder.call(() -> lock.acquire());
        Doing<Boolean> locking = waiter.startWaiting(() -> {
            Thread.currentThread().interrupt();
            lock.lock();
            boolean flag = Thread.currentThread().isInterrupted();
            lock.unlock();
            return flag && Thread.interrupted() && lock.holdCount() == 0;
        });
        waiter.interrupt();
        locking.awaitParked();
        waiter.interrupt();
        locking.awaitParked();

        holder.run(held::close);

        assertThat(locking.result()).isTrue();
        world.awaitIdle();
    }

    @Test
    @DisplayName("has no effect on a try without time, and the flag stays set")
    void tryIgnoresIt() throws Exception {
        assertThat(waiter.<Boolean>call(() -> {
                    Thread.currentThread().interrupt();
                    boolean had = lock.tryLock() && lock.tryAcquire().isPresent();
                    lock.unlock();
                    lock.unlock();
                    return had && Thread.interrupted();
                }))
                .isTrue();
        world.awaitIdle();
    }

    @Test
    @DisplayName(
            "has no effect on a release: the store has freed the lock when close() returns, and the flag stays set")
    void releaseIgnoresIt() throws Exception {
        waiter.run(() -> {
            Hold hold = lock.acquire();
            Thread.currentThread().interrupt();
            hold.close();
            assertThat(world.holderOf("ledger")).isEmpty();
            assertThat(Thread.interrupted()).isTrue();
        });
    }

    @Test
    @DisplayName("has no effect on close() of the client, and the flag stays set")
    void closeIgnoresIt() throws Exception {
        Holdfast other = world.client("bob");
        waiter.run(() -> {
            Hold hold = other.lock("other").acquire();
            Thread.currentThread().interrupt();
            other.close();
            assertThat(Thread.interrupted()).isTrue();
            assertThat(world.holderOf("other")).isEmpty();
            assertThat(hold.isHeld()).isFalse();
        });
    }

    @Test
    @DisplayName(
            "up to a thousand times a second over waiters and holders never breaks mutual exclusion, loses a wake-up or leaves a hold")
    @Tag("C5")
    void storm() throws Exception {
        int acquisitions = 400;
        AtomicInteger inside = new AtomicInteger();
        AtomicInteger overlaps = new AtomicInteger();
        AtomicInteger interrupted = new AtomicInteger();
        AtomicInteger acquired = new AtomicInteger();
        AtomicBoolean over = new AtomicBoolean();
        List<Actor> actors = new ArrayList<>();
        List<Doing<?>> doings = new ArrayList<>();
        DistributedLock theirs = world.client("bob").lock("ledger");
        for (int i = 0; i < 6; i++) {
            DistributedLock which = i % 2 == 0 ? lock : theirs;
            Actor actor = world.actor("actor-" + i);
            actors.add(actor);
            int way = i;
            doings.add(actor.start(() -> {
                for (int done = 0; done < acquisitions || interrupted.get() == 0; ) {
                    if (acquires(which, way, interrupted)) {
                        if (inside.getAndIncrement() != 0) {
                            overlaps.incrementAndGet();
                        }
                        Thread.yield();
                        inside.decrementAndGet();
                        which.unlock();
                        acquired.incrementAndGet();
                        done++;
                    }
                }
                return true;
            }));
        }
        Doing<?> storm = world.actor("storm").start(() -> {
            for (int i = 0; !over.get(); i++) {
                int before = acquired.get();
                actors.get(i % actors.size()).interrupt();
                // On a slow machine no thread would be granted in between without this wait.
                do {
                    LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(1));
                } while (acquired.get() == before && !over.get());
            }
            return true;
        });

        for (Doing<?> doing : doings) {
            doing.result();
        }
        over.set(true);
        storm.result();

        assertThat(overlaps).hasValue(0);
        assertThat(interrupted.get()).as("calls that were interrupted").isPositive();
        world.awaitIdle();
    }

    private static boolean acquires(DistributedLock lock, int way, AtomicInteger interrupted) {
        try {
            if (way < 2) {
                lock.lock();
                return true;
            } else if (way < 4) {
                return lock.tryLock(1, TimeUnit.SECONDS);
            }
            lock.lockInterruptibly();
            return true;
        } catch (InterruptedException e) {
            interrupted.incrementAndGet();
            return false;
        }
    }

    @Test
    @DisplayName("at the very moment of the grant ends as one or the other: held, or interrupted and not held")
    @Tag("C5")
    void raceWithTheGrant() throws Exception {
        int granted = 0;
        int interrupted = 0;
        for (int i = 0; i < 300; i++) {
            Hold held = holder.call(() -> lock.acquire());
            Doing<Hold> waiting = waiter.startWaiting(() -> lock.acquire());
            Doing<?> releasing = holder.start(() -> {
                held.close();
                return true;
            });
            waiter.interrupt();
            releasing.result();
            try {
                Hold mine = waiting.result();
                granted++;
                waiter.run(mine::close);
            } catch (InterruptedException e) {
                interrupted++;
                assertThat(waiter.<Boolean>call(lock::isHeldByCurrentThread)).isFalse();
            }
            waiter.call(Thread::interrupted);
            Eventually.holds("the lock is free", () -> world.holderOf("ledger").isEmpty());
        }
        assertThat(granted + interrupted).isEqualTo(300);
    }
}
