package dev.holdfast.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.AcquireOptions;
import dev.holdfast.DistributedLock;
import dev.holdfast.DistributedSemaphore;
import dev.holdfast.Hold;
import dev.holdfast.LockLostException;
import dev.holdfast.StoreRefusedException;
import dev.holdfast.election.Campaign;
import dev.holdfast.election.CampaignOptions;
import dev.holdfast.election.LeaderElection;
import dev.holdfast.spi.Command;
import dev.holdfast.spi.Order;
import dev.holdfast.spi.ResourceName;
import dev.holdfast.spi.StoreException.Effect;
import dev.holdfast.spi.StoreException.Reason;
import dev.holdfast.task.ScheduledTaskLock;
import dev.holdfast.task.TaskOptions;
import dev.holdfast.verification.world.Actor;
import dev.holdfast.verification.world.Actor.Doing;
import dev.holdfast.verification.world.FaultyLink;
import dev.holdfast.verification.world.World;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@DisplayName("C12: Nothing that a client keeps grows without bound")
@Tag("C12")
class NothingGrowsTest {

    private final World world = World.still();
    private final FaultyLink link = world.link();
    private final Engine engine = EngineUnderTest.start(world, link);
    private final DistributedLock lock = lock("ledger");

    @AfterEach
    void close() {
        link.mend();
        engine.close();
        world.close();
    }

    private DistributedLock lock(String name) {
        return engine.primitives().lock(new ResourceName(name), Order.FAIR);
    }

    private void expectClean() {
        assertThat(engine.primitives().local.resources()).isEmpty();
    }

    @Test
    @DisplayName("100,000 locks that were used and are idle have no gate, no timer and no thread")
    void idleLocks() throws InterruptedException {
        int timers = world.time().timers();
        int threads = Thread.activeCount();
        List<DistributedLock> locks = new ArrayList<>();
        for (int i = 0; i < 100_000; i++) {
            DistributedLock each = lock("name-" + i);
            each.acquire().close();
            locks.add(each);
        }
        expectClean();
        assertThat(world.time().timers()).isEqualTo(timers);
        assertThat(Thread.activeCount()).isLessThanOrEqualTo(threads + 1);
        assertThat(locks).hasSize(100_000);
    }

    @Test
    @DisplayName("fixed leases that have ended are not kept, though nobody closes their holds")
    void endedLeases() throws Exception {
        AcquireOptions fiveMinutes = AcquireOptions.defaults().withFixedLease(Duration.ofMinutes(5));
        List<Hold> holds = new ArrayList<>();
        for (int i = 0; i < 100; i++) {
            holds.add(lock("leased-" + i)
                    .acquireAsync(fiveMinutes)
                    .toCompletableFuture()
                    .get(60, TimeUnit.SECONDS));
        }

        world.advance(Duration.ofMinutes(7));

        expectClean();
        assertThatThrownBy(holds.get(0)::close).isInstanceOf(LockLostException.class);
    }

    @Test
    @DisplayName("nor are permits for a year that another process has returned")
    void returnedPermits() throws Exception {
        AcquireOptions forAYear = AcquireOptions.defaults().withDetachedLease(Duration.ofDays(365));
        DistributedSemaphore permits = engine.primitives().semaphore(new ResourceName("licences"), 100, Order.FAIR);
        List<String> ids = new ArrayList<>();
        for (int i = 0; i < 100; i++) {
            ids.add(permits.acquireAsync(1, forAYear)
                    .toCompletableFuture()
                    .get(60, TimeUnit.SECONDS)
                    .permitId());
        }

        DistributedSemaphore theirs = world.client("bob").semaphore("licences", 100);
        for (String id : ids) {
            assertThat(theirs.release(id)).isTrue();
        }
        world.advance(Duration.ofMinutes(2));

        expectClean();
    }

    @Test
    @DisplayName("nor holds that own themselves, once their session is over at the store")
    void endedSessions() throws Exception {
        Hold hold = lock.acquireAsync().toCompletableFuture().get(60, TimeUnit.SECONDS);
        link.cut();
        world.advance(Duration.ofMinutes(1));
        link.mend();
        world.advance(Duration.ofMinutes(1));

        assertThat(hold.isHeld()).isFalse();
        expectClean();
    }

    @Test
    @DisplayName("10,000 who wait for one lock wait as one claim, without a thread")
    void manyWaiters() throws Exception {
        DistributedLock lock = lock("hot");
        Hold held = lock.acquire();
        int threads = Thread.activeCount();
        List<CompletableFuture<Hold>> waiting = new ArrayList<>();
        for (int i = 0; i < 10_000; i++) {
            waiting.add(lock.acquireAsync().toCompletableFuture());
        }
        assertThat(Thread.activeCount()).isLessThanOrEqualTo(threads + 1);
        assertThat(world.waitersOf("hot")).isLessThanOrEqualTo(1);

        waiting.forEach(each -> each.cancel(false));
        held.close();
        expectClean();
    }

    @Test
    @DisplayName("a gate is there while its lock is held or waited for, and only then")
    void gateOfAUsedLock() throws Exception {
        Actor bob = world.actor("bob");
        expectClean();
        Hold hold = lock.acquire();
        assertThat(engine.primitives().local.resources()).hasSize(1);
        Doing<Hold> waiting = bob.startWaiting(() -> lock.acquire());
        hold.close();
        assertThat(engine.primitives().local.resources()).hasSize(1);
        bob.run(waiting.result()::close);
        expectClean();
    }

    @Test
    @DisplayName("waits that end without a hold leave nothing: refused, timed out, interrupted, cancelled, failed")
    void waitsInVain() throws Exception {
        Actor bob = world.actor("bob");
        Hold theirs = world.client("other").lock("ledger").acquire();
        int timers = world.time().timers();

        assertThat(lock.tryLock()).isFalse();
        expectClean();
        Doing<Boolean> timedOut = bob.startWaiting(() -> lock.tryLock(1, TimeUnit.SECONDS));
        world.advance(Duration.ofSeconds(1));
        assertThat(timedOut.result()).isFalse();
        expectClean();
        Doing<Hold> interrupted = bob.startWaiting(() -> lock.acquire());
        bob.interrupt();
        assertThatThrownBy(interrupted::result).isInstanceOf(InterruptedException.class);
        expectClean();
        lock.acquireAsync().toCompletableFuture().cancel(true);
        expectClean();
        link.failNext(Command.Acquire.class, Reason.DENIED, Effect.NONE);
        assertThatThrownBy(lock::lock).isInstanceOf(StoreRefusedException.class);
        world.advance(Duration.ofSeconds(20));
        expectClean();

        assertThat(world.time().timers()).isLessThanOrEqualTo(timers);
        theirs.close();
    }

    @Test
    @DisplayName("leases and maximum waits of a year leave no timers behind when they are over early")
    void longTimers() throws Exception {
        lock.acquire().close();
        int timers = world.time().timers();
        AcquireOptions patient = AcquireOptions.defaults().withMaxWait(Duration.ofDays(365));
        for (int i = 0; i < 100; i++) {
            lock.acquire(patient.withFixedLease(Duration.ofDays(365))).close();
            lock.acquire(patient.withMaxHold(Duration.ofDays(365))).close();
            lock.acquireAsync(patient)
                    .toCompletableFuture()
                    .get(60, TimeUnit.SECONDS)
                    .close();
            Hold first = lock.acquire();
            CompletableFuture<Hold> waiting = lock.acquireAsync(patient).toCompletableFuture();
            first.close();
            waiting.get(60, TimeUnit.SECONDS).close();
        }
        world.time().settle();
        assertThat(world.time().timers()).isEqualTo(timers);
        expectClean();
    }

    @Test
    @DisplayName("a lost hold is forgotten when its owner closes it")
    void lostHoldThatIsClosed() throws InterruptedException {
        Hold hold = lock.acquire();
        world.releaseByForce("ledger");
        assertThat(engine.primitives().local.resources()).hasSize(1);
        assertThatThrownBy(hold::close).isInstanceOf(LockLostException.class);
        expectClean();
    }

    @Test
    @DisplayName("a lost hold is forgotten when the thread that should close it has died")
    void lostHoldOfADeadThread() throws Exception {
        Actor bob = world.actor("bob");
        Hold hold = bob.call(() -> lock.acquire());
        world.releaseByForce("ledger");
        assertThat(hold.isHeld()).isFalse();
        bob.die();

        world.advance(Duration.ofSeconds(30));

        expectClean();
    }

    @Test
    @DisplayName("elections leave nothing: campaigns that led or waited, observers, terms that were lost")
    void elections() throws Exception {
        LeaderElection election = engine.primitives().election(new ResourceName("scheduler"));
        CampaignOptions still =
                CampaignOptions.defaults().withExecutor(world.time().callbacks());
        int timers = world.time().timers();
        for (int i = 0; i < 100; i++) {
            Campaign first = election.campaign(still, leadership -> {});
            Campaign second = election.campaign(still, leadership -> {});
            LeaderElection.Observation observation = election.observe(view -> {});
            world.time().settle();
            world.releaseByForce("scheduler");
            world.time().settle();
            observation.close();
            second.close();
            first.close();
            world.time().settle();
            election.leader().toCompletableFuture().get(60, TimeUnit.SECONDS);
        }
        expectClean();
        assertThat(engine.primitives().elections.isEmpty()).isTrue();
        assertThat(world.time().timers()).isEqualTo(timers);
    }

    @Test
    @DisplayName("scheduled tasks leave nothing: run, skipped, left to their least time, lost, not answered")
    void tasks() {
        Duration hour = Duration.ofHours(1);
        ScheduledTaskLock elsewhere = world.client("other").task("report");
        ScheduledTaskLock task = engine.primitives().task(new ResourceName("report"));
        int timers = world.time().timers();
        for (int i = 0; i < 50; i++) {
            task.<Object, RuntimeException>callIfDue(TaskOptions.atMost(hour), hold -> null);
            elsewhere.<Object, RuntimeException>callIfDue(
                    TaskOptions.atMost(hour),
                    hold -> task.<Object, RuntimeException>callIfDue(
                            TaskOptions.atMost(hour).withAtLeast(hour), other -> null));
            assertThatThrownBy(() -> task.<Object, RuntimeException>callIfDue(TaskOptions.atMost(hour), hold -> {
                        world.releaseByForce("report");
                        return null;
                    }))
                    .isInstanceOf(LockLostException.class);
            link.failNext(Command.Acquire.class, Reason.DENIED, Effect.NONE);
            assertThatThrownBy(() -> task.<Object, RuntimeException>callIfDue(
                            TaskOptions.atMost(hour).withAtLeast(hour), hold -> null))
                    .isInstanceOf(StoreRefusedException.class);
            world.advance(Duration.ofSeconds(1));
            task.<Object, RuntimeException>callIfDue(
                    TaskOptions.atMost(hour).withAtLeast(Duration.ofMinutes(1)), hold -> null);
            world.advance(Duration.ofMinutes(1));
        }
        world.advance(hour.multipliedBy(2));
        expectClean();
        assertThat(engine.primitives().tasks.isEmpty()).isTrue();
        assertThat(world.time().timers()).isLessThanOrEqualTo(timers);
    }

    @Test
    @DisplayName("sessions that end one after another leave nothing")
    void sessions() throws InterruptedException {
        int timers = world.time().timers();
        for (int i = 0; i < 20; i++) {
            Hold hold = lock.acquire();
            link.fail(Command.KeepAlive.class, Reason.UNAVAILABLE, Effect.NONE);
            world.advance(Duration.ofSeconds(28));
            link.mend();
            assertThatThrownBy(hold::close).isInstanceOf(LockLostException.class);
            world.advance(Duration.ofSeconds(5));
        }
        expectClean();
        assertThat(world.time().timers()).isBetween(1, timers + 3);
    }
}
