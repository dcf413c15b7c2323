package dev.holdfast.verification.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.AcquireOptions;
import dev.holdfast.DistributedLock;
import dev.holdfast.Hold;
import dev.holdfast.Holdfast;
import dev.holdfast.LockWaitTimeoutException;
import dev.holdfast.spi.Command;
import dev.holdfast.verification.world.Actor;
import dev.holdfast.verification.world.Actor.Doing;
import dev.holdfast.verification.world.Eventually;
import dev.holdfast.verification.world.FaultyLink;
import dev.holdfast.verification.world.World;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

@DisplayName("Waiting ends when its time is up, and not before")
@Tag("C15")
class WaitingTest {

    @AutoClose
    private final World world = World.still();

    private final Actor holder = world.actor("holder");
    private final Actor waiter = world.actor("waiter");
    private final Holdfast holdfast = world.client("alice");
    private final DistributedLock lock = holdfast.lock("ledger");
    private Hold held;

    @BeforeEach
    void someoneHoldsTheLock() throws Exception {
        held = holder.call(() -> lock.acquire());
    }

    @Test
    @DisplayName("time up is a value from the tries, and LockWaitTimeoutException from acquire, which says how long")
    void timeUp() throws Exception {
        Doing<Optional<Hold>> trying = waiter.startWaiting(() -> lock.tryAcquire(Duration.ofSeconds(5)));
        world.advance(Duration.ofSeconds(5));
        assertThat(trying.result()).isEmpty();

        Doing<Boolean> locking = waiter.startWaiting(() -> lock.tryLock(5, TimeUnit.SECONDS));
        world.advance(Duration.ofSeconds(5));
        assertThat(locking.result()).isFalse();

        Doing<Hold> acquiring = waiter.startWaiting(() -> lock.acquire(Duration.ofSeconds(5)));
        world.advance(Duration.ofSeconds(5));
        assertThatThrownBy(acquiring::result)
                .isInstanceOfSatisfying(LockWaitTimeoutException.class, e -> {
                    assertThat(e.waited()).isEqualTo(Duration.ofSeconds(5));
                    assertThat(e.resource()).isEqualTo("ledger");
                    assertThat(e.store()).isEqualTo("memory");
                })
                .hasMessageContaining("ledger")
                .hasMessageContaining("5 s");
    }

    @Test
    @DisplayName("a moment before the time is up it goes on, and the lock is granted when it is released")
    void grantedInTime() throws Exception {
        Doing<Optional<Hold>> trying = waiter.startWaiting(() -> lock.tryAcquire(Duration.ofSeconds(5)));
        world.advance(Duration.ofSeconds(5).minusNanos(1));
        assertThat(trying.isDone()).isFalse();

        holder.run(held::close);

        Hold theirs = trying.result().orElseThrow();
        assertThat(theirs.isHeld()).isTrue();
        waiter.run(theirs::close);
    }

    @Test
    @DisplayName("a wait that is over holds nothing later, and leaves nothing in the queue")
    @Tag("C5")
    void withdrawn() throws Exception {
        DistributedLock theirs = world.client("bob").lock("ledger");
        Doing<Boolean> elsewhere = waiter.startWaiting(() -> theirs.tryLock(5, TimeUnit.SECONDS));
        assertThat(world.waitersOf("ledger")).isEqualTo(1);

        world.advance(Duration.ofSeconds(5));

        assertThat(elsewhere.result()).isFalse();
        assertThat(world.waitersOf("ledger")).isZero();
        holder.run(held::close);
        world.awaitIdle();
        assertThat(waiter.<Boolean>call(theirs::isHeldByCurrentThread)).isFalse();
    }

    @Test
    @DisplayName("the place of the process is kept while another of its threads waits")
    void placeIsKept() throws Exception {
        Holdfast bob = world.client("bob");
        DistributedLock theirs = bob.lock("ledger");
        Doing<Boolean> first = waiter.startWaiting(() -> theirs.tryLock(5, TimeUnit.SECONDS));
        Actor second = world.actor("second");
        Doing<Hold> stays = second.startWaiting(() -> theirs.acquire());
        Actor carol = world.actor("carol");
        DistributedLock hers = world.client("carol").lock("ledger");
        Doing<Hold> behind = carol.startWaiting(() -> hers.acquire());
        assertThat(world.waitersOf("ledger")).isEqualTo(2);

        world.advance(Duration.ofSeconds(5));
        assertThat(first.result()).isFalse();
        assertThat(world.waitersOf("ledger")).isEqualTo(2);
        holder.run(held::close);

        Hold granted = stays.result();
        assertThat(behind.isDone()).isFalse();
        second.run(granted::close);
        carol.run(behind.result()::close);
    }

    @Test
    @DisplayName("a negative time makes one attempt with tryLock, as Lock says, and is refused by all others")
    void negative() throws Exception {
        assertThat(lock.tryLock(-1, TimeUnit.SECONDS)).isFalse();
        assertThat(lock.tryLock(Long.MIN_VALUE, TimeUnit.DAYS)).isFalse();
        assertThatThrownBy(() -> lock.acquire(Duration.ofNanos(-1)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("maxWait");
        assertThatThrownBy(() -> lock.tryAcquire(Duration.ofSeconds(Long.MIN_VALUE)))
                .isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> AcquireOptions.defaults().withMaxWait(Duration.ofSeconds(-1)))
                .isInstanceOf(IllegalArgumentException.class);

        holder.run(held::close);
        assertThat(lock.tryLock(-1, TimeUnit.SECONDS)).isTrue();
        lock.unlock();
    }

    @ParameterizedTest
    @EnumSource(TimeUnit.class)
    @DisplayName("Long.MAX_VALUE of any unit is for ever")
    void forEver(TimeUnit unit) throws Exception {
        Doing<Boolean> waiting = waiter.startWaiting(() -> lock.tryLock(Long.MAX_VALUE, unit));
        world.advance(Duration.ofMinutes(10));
        assertThat(waiting.isDone()).isFalse();

        holder.run(held::close);

        assertThat(waiting.result()).isTrue();
        waiter.run(lock::unlock);
    }

    @Test
    @DisplayName("the longest Duration is for ever, and so is one of 147 years")
    void longestDuration() throws Exception {
        Doing<Hold> first = waiter.startWaiting(() -> lock.acquire(Duration.ofSeconds(Long.MAX_VALUE, 999_999_999)));
        Actor second = world.actor("second");
        Doing<Optional<Hold>> next = second.startWaiting(() -> lock.tryAcquire(Duration.ofDays(147 * 366)));
        Actor third = world.actor("third");
        AcquireOptions options = AcquireOptions.defaults().withMaxWait(Duration.ofSeconds(Long.MAX_VALUE));
        Doing<Hold> last = third.startWaiting(() -> lock.acquire(options));
        var stage = lock.acquireAsync(options).toCompletableFuture();
        world.advance(Duration.ofMinutes(10));

        holder.run(held::close);

        waiter.run(first.result()::close);
        second.run(next.result().orElseThrow()::close);
        third.run(last.result()::close);
        stage.get(60, TimeUnit.SECONDS).close();
    }

    @Test
    @DisplayName("a nanosecond is waited for")
    void oneNanosecond() throws Exception {
        Doing<Boolean> waiting = waiter.startWaiting(() -> lock.tryLock(1, TimeUnit.NANOSECONDS));
        assertThat(waiting.isDone()).isFalse();

        world.advance(Duration.ofNanos(1));

        assertThat(waiting.result()).isFalse();
    }

    @Test
    @DisplayName(
            "goes on until the store has been silent for its time-out, however old a command is that it never answered")
    void silenceBeginsWithTheLastAnswer() throws Exception {
        FaultyLink link = world.link();
        Holdfast bob = world.client("bob", link);
        CompletableFuture<Hold> asked = bob.lock("ledger").acquireAsync().toCompletableFuture();
        link.loseNext(Command.Poll.class);
        Eventually.holds("it is polled", () -> {
            world.advance(Duration.ofMillis(500));
            return !link.sent(Command.Poll.class).isEmpty();
        });
        for (int i = 0; i < 9; i++) {
            bob.lock("other").acquire().close();
            world.advance(Duration.ofMillis(500));
        }
        link.cut();
        CompletableFuture<Hold> unanswered = bob.lock("other").acquireAsync().toCompletableFuture();
        world.advance(Duration.ofSeconds(8));

        assertThat(asked).as("8 of 10 seconds are over").isNotDone();
        world.advance(Duration.ofSeconds(4));
        assertThat(asked).isCompletedExceptionally();
        assertThat(unanswered).isCompletedExceptionally();
    }
}
