package dev.holdfast.verification.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.DistributedLock;
import dev.holdfast.Hold;
import dev.holdfast.LockLostException;
import dev.holdfast.verification.world.Eventually;
import dev.holdfast.verification.world.World;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

@DisplayName("An asynchronous task that runs while the lock is held")
class RunWhileHeldAsyncTest {

    @AutoClose
    private final World world = World.still();

    private final DistributedLock lock = world.client("alice").lock("ledger");
    private final AtomicReference<Hold> hold = new AtomicReference<>();
    private final CompletableFuture<String> work = new CompletableFuture<>();

    private CompletableFuture<String> start() {
        CompletableFuture<String> result = lock.runWhileHeldAsync(granted -> {
                    hold.set(granted);
                    return work;
                })
                .toCompletableFuture();
        Eventually.holds("the task has begun", () -> hold.get() != null || result.isDone());
        return result;
    }

    private void expectFree() {
        Eventually.holds("the lock is free", () -> world.holderOf("ledger").isEmpty());
    }

    @Test
    @DisplayName("holds the lock until its stage has ended, and ends as that does")
    void value() {
        CompletableFuture<String> result = start();
        assertThat(hold.get().isHeld()).isTrue();
        assertThat(result).isNotDone();
        work.complete("done");
        assertThat(result.join()).isEqualTo("done");
        expectFree();
    }

    @Test
    @DisplayName("fails as its stage does, and the lock is free")
    void failure() {
        CompletableFuture<String> result = start();
        work.completeExceptionally(new IllegalStateException("no paper"));
        assertThatThrownBy(result::join)
                .isInstanceOf(CompletionException.class)
                .cause()
                .isInstanceOf(IllegalStateException.class)
                .hasMessage("no paper");
        expectFree();
    }

    @Test
    @DisplayName("may fail before there is a stage")
    void thrown() {
        CompletableFuture<String> result = lock.<String>runWhileHeldAsync(granted -> {
                    throw new IllegalStateException("no paper");
                })
                .toCompletableFuture();
        assertThatThrownBy(result::join).cause().hasMessage("no paper");
        expectFree();
    }

    @Test
    @DisplayName("is cancelled when the lock is lost, and then ends as lost")
    void loss() {
        CompletableFuture<String> result = start();
        world.releaseByForce("ledger");
        Eventually.holds("the task is cancelled", work::isCancelled);
        assertThatThrownBy(result::join)
                .cause()
                .isInstanceOf(LockLostException.class)
                .hasSuppressedException(new CancellationException());
    }

    @Test
    @DisplayName("is cancelled with its result, and the lock is free")
    void cancelled() {
        CompletableFuture<String> result = start();
        assertThat(result.cancel(false)).isTrue();
        assertThat(work).isCancelled();
        expectFree();
    }

    @Test
    @DisplayName("never begins if its result is cancelled while it waits")
    void cancelledWhileWaiting() throws Exception {
        Hold other = world.client("bob").lock("ledger").acquire();
        CompletableFuture<String> result = lock.runWhileHeldAsync(granted -> {
                    hold.set(granted);
                    return work;
                })
                .toCompletableFuture();
        Eventually.holds("it waits", () -> world.waitersOf("ledger") == 1);
        result.cancel(false);
        other.close();
        expectFree();
        assertThat(hold.get()).isNull();
    }
}
