package dev.holdfast.verification.client;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.AcquireOptions;
import dev.holdfast.DistributedSemaphore;
import dev.holdfast.Environment;
import dev.holdfast.Hold;
import dev.holdfast.Holdfast;
import dev.holdfast.LockOptions;
import dev.holdfast.StoreUnavailableException;
import dev.holdfast.engine.execution.ForwardingEnvironment;
import dev.holdfast.spi.Command;
import dev.holdfast.spi.Command.KeepAlive;
import dev.holdfast.verification.world.FaultyLink;
import dev.holdfast.verification.world.World;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@DisplayName("The renewal of a hold")
@Tag("C14")
class RenewalTest {

    private static final Duration TTL = Duration.ofSeconds(3);

    /** If each checked all others, that alone would take many times the time-out. */
    private static final int MANY = 100_000;

    @AutoClose
    private final World world = World.still();

    private final FaultyLink link = world.link();

    /** A world in which a timer that was set never ends, and keeps those behind it from running. */
    private static final class StuckTimers extends ForwardingEnvironment {
        private volatile boolean areStuck;

        StuckTimers(Environment real) {
            super(real);
        }

        @Override
        public Timer schedule(long delayNanos, Runnable task) {
            return real.schedule(delayNanos, () -> {
                if (!areStuck) {
                    task.run();
                }
            });
        }

        @Override
        public Timer scheduleRenewal(long delayNanos, Runnable task) {
            return real.scheduleRenewal(delayNanos, task);
        }
    }

    @Test
    @DisplayName(
            "waits for no other timer, is repeated without an answer, and its end is told, whatever stands before it")
    void waitsForNoTimer() throws InterruptedException {
        StuckTimers timers = new StuckTimers(world.time());
        Holdfast holdfast =
                world.client(world.builder("alice", link).environment(timers).sessionTtl(TTL));
        Hold hold = holdfast.lock("ledger").acquire();
        List<Object> losses = new ArrayList<>();
        hold.onLost(losses::add);
        timers.areStuck = true;

        for (int i = 0; i < 10; i++) {
            link.loseNext(KeepAlive.class);
            world.advance(TTL);
            assertThat(hold.isHeld()).isTrue();
        }

        link.cut();
        world.advance(TTL);
        assertThat(losses).hasSize(1);
        timers.areStuck = false;
    }

    @Test
    @Timeout(value = 60, unit = TimeUnit.SECONDS)
    @Tag("C15")
    @DisplayName("goes on while very many waits for a name end together that the store does not answer")
    void unansweredWaits() throws InterruptedException {
        Holdfast holdfast = world.client(world.builder("alice", link).sessionTtl(TTL));
        Hold hold = holdfast.lock("ledger").acquire();
        cutFor("silent");
        AcquireOptions patient = AcquireOptions.defaults().withMaxWait(Duration.ofSeconds(2));
        allFail(MANY, () -> holdfast.lock("silent").acquireAsync(patient));
        assertThat(hold.isHeld()).isTrue();
        hold.close();
    }

    @Test
    @Timeout(value = 60, unit = TimeUnit.SECONDS)
    @Tag("C15")
    @DisplayName("goes on while very many tries end together that the store does not answer")
    void unansweredTries() throws InterruptedException {
        Holdfast holdfast = world.client(world.builder("alice", link).sessionTtl(TTL));
        Hold hold = holdfast.lock("ledger").acquire();
        DistributedSemaphore semaphore = holdfast.semaphore("silent", 2, LockOptions.barging());
        Hold one = semaphore.acquire(1);
        CompletableFuture<?> both =
                semaphore.acquireAsync(2, AcquireOptions.defaults()).toCompletableFuture();
        cutFor("silent");
        AcquireOptions impatient = AcquireOptions.defaults().withMaxWait(Duration.ZERO);
        allFail(MANY / 20, () -> semaphore.acquireAsync(1, impatient));
        assertThat(hold.isHeld()).isTrue();
        link.mend();
        both.cancel(false);
        one.close();
        hold.close();
    }

    private void cutFor(String name) {
        link.cutFor(command -> command instanceof Command.OnClaim claim
                && claim.resource().value().equals(name));
    }

    private void allFail(int count, Supplier<CompletionStage<?>> asking) {
        List<CompletableFuture<?>> waits = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            waits.add(asking.get().toCompletableFuture());
        }
        world.advance(Duration.ofSeconds(12));
        assertThat(waits).allMatch(CompletableFuture::isDone);
        assertThat(waits.get(count - 1))
                .failsWithin(Duration.ZERO)
                .withThrowableOfType(ExecutionException.class)
                .withCauseInstanceOf(StoreUnavailableException.class);
    }
}
