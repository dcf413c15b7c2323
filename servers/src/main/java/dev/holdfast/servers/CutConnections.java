package dev.holdfast.servers;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.AcquireOptions;
import dev.holdfast.DistributedCountDownLatch;
import dev.holdfast.DistributedLock;
import dev.holdfast.DistributedSemaphore;
import dev.holdfast.Hold;
import dev.holdfast.Holdfast;
import dev.holdfast.Permits;
import dev.holdfast.admin.LockQuery;
import dev.holdfast.task.TaskHold;
import dev.holdfast.task.TaskOptions;
import java.time.Duration;
import java.util.concurrent.TimeUnit;

/** Calls of a client whose idle connections were cut, to a healthy server. */
public final class CutConnections {

    private static final Duration LEASE = Duration.ofMinutes(2);

    private CutConnections() {}

    /**
     * Checks that any first call after the cut works, and that an earlier hold lasts.
     *
     * @param cut ends all connections of the client, and lets new ones through
     */
    public static void areNotNoticed(Holdfast client, Runnable cut) throws Exception {
        try (Hold before = client.lock("before").acquire()) {
            locks(client.lock("ledger"), cut);
            operators(client, before, cut);
            permits(client.semaphore("permits", 3), cut);
            counts(client.latch("ready"), cut);
            elections(client, cut);
            assertThat(before.isHeld()).isTrue();
            cut.run();
        }
    }

    private static void locks(DistributedLock lock, Runnable cut) throws Exception {
        cut.run();
        Hold tried = lock.tryAcquire().orElseThrow();
        cut.run();
        tried.close();
        cut.run();
        assertThat(lock.tryLock()).isTrue();
        cut.run();
        lock.unlock();
        cut.run();
        Hold brief = lock.tryAcquire(Duration.ofMillis(9)).orElseThrow();
        cut.run();
        brief.close();
        cut.run();
        lock.acquireAsync(AcquireOptions.defaults().withMaxWait(Duration.ZERO))
                .toCompletableFuture()
                .get(1, TimeUnit.MINUTES)
                .close();
    }

    private static void operators(Holdfast client, Hold hold, Runnable cut) throws Exception {
        cut.run();
        assertThat(client.inspect(hold.name())).isPresent();
        cut.run();
        assertThat(client.inspect(LockQuery.all()).locks()).isNotEmpty();
        cut.run();
        assertThat(client.checkHealth(Duration.ofMinutes(1)).roundTrip()).isPresent();
        long token = client.lock("forced").acquire().fencingToken();
        cut.run();
        assertThat(client.forceRelease("forced", token)).isTrue();
    }

    private static void permits(DistributedSemaphore semaphore, Runnable cut) throws Exception {
        cut.run();
        Permits two = semaphore.tryAcquire(2).orElseThrow();
        cut.run();
        assertThat(semaphore.availablePermits()).isEqualTo(1);
        cut.run();
        assertThat(semaphore.resize(4)).isTrue();
        cut.run();
        two.close();
        Permits leased = semaphore.acquire(1, AcquireOptions.defaults().withDetachedLease(LEASE));
        cut.run();
        leased.extend(LEASE);
        cut.run();
        assertThat(semaphore.release(leased.permitId())).isTrue();
    }

    private static void counts(DistributedCountDownLatch latch, Runnable cut) {
        cut.run();
        assertThat(latch.trySetCount(2)).isTrue();
        cut.run();
        assertThat(latch.countDown("first")).isEqualTo(1);
        cut.run();
        assertThat(latch.count()).isEqualTo(1);
        cut.run();
        assertThat(latch.countDown("second")).isZero();
    }

    private static void elections(Holdfast client, Runnable cut) throws Exception {
        cut.run();
        assertThat(client.election("leader")
                        .leader()
                        .toCompletableFuture()
                        .get(1, TimeUnit.MINUTES)
                        .leader())
                .isEmpty();
        cut.run();
        TaskHold task =
                client.task("report").tryBegin(TaskOptions.atMost(LEASE)).orElseThrow();
        cut.run();
        task.close();
    }
}
