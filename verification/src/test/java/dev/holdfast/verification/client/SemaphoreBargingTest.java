package dev.holdfast.verification.client;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.AcquireOptions;
import dev.holdfast.DistributedSemaphore;
import dev.holdfast.Holdfast;
import dev.holdfast.LockOptions;
import dev.holdfast.Permits;
import dev.holdfast.spi.Command;
import dev.holdfast.verification.world.FaultyLink;
import dev.holdfast.verification.world.HolderThread;
import dev.holdfast.verification.world.World;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@DisplayName("A barging semaphore")
@Tag("P3")
class SemaphoreBargingTest {

    private static final int N = 10;

    @AutoClose
    private final World world = World.still();

    private final FaultyLink link = world.link();
    private final Holdfast alice = world.client("alice", link);
    private final DistributedSemaphore here = alice.semaphore("bus", N, LockOptions.barging());
    private final DistributedSemaphore there = world.client("bob").semaphore("bus", N, LockOptions.barging());

    private HolderThread<Permits> waiting(String name, int permits) {
        return HolderThread.waiting(world, name, () -> here.acquire(permits));
    }

    private HolderThread<Permits> holding(String name, int permits) throws Exception {
        return HolderThread.holding(world, name, () -> here.acquire(permits));
    }

    /** The result of a stage that has ended. */
    private Permits now(CompletionStage<Permits> stage) {
        world.time().settle();
        CompletableFuture<Permits> future = stage.toCompletableFuture();
        assertThat(future).isCompleted();
        return future.join();
    }

    @Test
    @DisplayName("lets those of its own process past a larger request who fit, whatever way they ask")
    void pastALargerOne() throws Exception {
        Permits five = there.acquire(5);
        HolderThread<Permits> large = waiting("large", 8);

        Permits tried = here.tryAcquire(1).orElseThrow();
        HolderThread<Permits> small = holding("small", 2);
        Permits staged = now(here.acquireAsync(1, AcquireOptions.defaults()));
        Permits leased = now(here.acquireAsync(1, AcquireOptions.defaults().withFixedLease(Duration.ofSeconds(20))));
        assertThat(here.tryAcquire(1)).isEmpty();

        assertThat(large.isWaiting()).isTrue();
        assertThat(here.availablePermits()).isZero();
        tried.close();
        small.release();
        staged.close();
        leased.close();
        assertThat(large.isWaiting()).isTrue();
        five.close();
        large.release();
    }

    @Test
    @DisplayName("does so while the answer to the larger one is still on its way")
    void beforeTheAnswer() throws Exception {
        Permits five = there.acquire(5);
        FaultyLink.HeldUp asking = link.holdUpNext(Command.Acquire.class);
        CompletableFuture<Permits> large =
                here.acquireAsync(8, AcquireOptions.defaults()).toCompletableFuture();
        CompletableFuture<Permits> small =
                here.acquireAsync(2, AcquireOptions.defaults()).toCompletableFuture();
        assertThat(small).isNotDone();

        asking.proceed();
        world.time().settle();

        assertThat(large).isNotDone();
        now(small).close();
        five.close();
        world.time().settle();
        now(large).close();
    }

    @Test
    @DisplayName("keeps the places of those who don't fit, and asks the store once for each")
    void whoDoesNotFitWaits() throws Exception {
        Permits nine = there.acquire(9);
        HolderThread<Permits> large = waiting("large", 8);
        link.forget();
        HolderThread<Permits> two = waiting("two", 2);
        HolderThread<Permits> alsoTwo = waiting("also two", 2);
        HolderThread<Permits> asLarge = waiting("as large", 8);

        assertThat(link.sent(Command.Acquire.class)).hasSize(2).allMatch(acquire -> acquire.weight() == 2);
        assertThat(world.waitersOf("bus")).isEqualTo(1);
        nine.close();
        large.awaitGrant();
        two.awaitGrant();
        large.release();
        alsoTwo.awaitGrant();
        two.release();
        alsoTwo.release();
        asLarge.release();
    }

    @Test
    @DisplayName("leaves nothing behind of one who gives up while it asks, nor of one that is not answered")
    void givesUp() throws Exception {
        Permits five = there.acquire(5);
        HolderThread<Permits> large = waiting("large", 8);
        FaultyLink.HeldUp asking = link.holdUpNext(Command.Acquire.class);
        CompletableFuture<Permits> cancelled =
                here.acquireAsync(2, AcquireOptions.defaults()).toCompletableFuture();
        asking.awaitCommand();
        cancelled.cancel(true);
        asking.proceed();
        assertThat(here.availablePermits()).isEqualTo(5);

        link.loseReplyToNext(Command.Acquire.class);
        CompletableFuture<Permits> unanswered =
                here.acquireAsync(2, AcquireOptions.defaults()).toCompletableFuture();
        assertThat(unanswered).isNotDone();
        world.advance(Duration.ofSeconds(10));
        now(unanswered).close();
        assertThat(here.availablePermits()).isEqualTo(5);

        five.close();
        large.release();
    }

    @Test
    @DisplayName("asks anew under the next session")
    void nextSession() throws Exception {
        Permits five = there.acquire(5);
        HolderThread<Permits> large = waiting("large", 8);
        link.cut();
        CompletableFuture<Permits> small =
                here.acquireAsync(2, AcquireOptions.defaults()).toCompletableFuture();
        world.advance(Duration.ofSeconds(3));
        assertThat(small).isNotDone();
        link.mend();
        world.advance(Duration.ofSeconds(60));

        now(small).close();
        five.close();
        large.release();
    }
}
