package dev.holdfast.verification.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.AcquireOptions;
import dev.holdfast.ClientClosedException;
import dev.holdfast.DistributedLock;
import dev.holdfast.Hold;
import dev.holdfast.Holdfast;
import dev.holdfast.LockMismatchException;
import dev.holdfast.LockOptions;
import dev.holdfast.LockWaitTimeoutException;
import dev.holdfast.spi.Command;
import dev.holdfast.verification.world.Actor;
import dev.holdfast.verification.world.Eventually;
import dev.holdfast.verification.world.FaultyLink;
import dev.holdfast.verification.world.World;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@DisplayName("An asynchronous acquisition")
class AsyncTest {

    @AutoClose
    private final World world = World.still();

    private final FaultyLink link = world.link();
    private final Holdfast holdfast = world.client("alice", link);
    private final DistributedLock lock = holdfast.lock("ledger");

    private static <T> T result(CompletionStage<T> stage) throws Exception {
        return stage.toCompletableFuture().get(60, TimeUnit.SECONDS);
    }

    @Test
    @DisplayName("returns at once, whether the lock is held here, held elsewhere, or the store is silent")
    void neverBlocks() throws Exception {
        Hold mine = lock.acquire();
        CompletionStage<Hold> heldHere = lock.acquireAsync();
        Hold theirs = world.client("bob").lock("elsewhere").acquire();
        CompletionStage<Hold> heldElsewhere = holdfast.lock("elsewhere").acquireAsync();
        link.cut();
        CompletionStage<Hold> silent = holdfast.lock("silent").acquireAsync();

        for (CompletionStage<Hold> stage : List.of(heldHere, heldElsewhere, silent)) {
            assertThat(stage.toCompletableFuture().isDone()).isFalse();
            assertThat(stage.toCompletableFuture().cancel(true)).isTrue();
        }
        link.mend();
        theirs.close();
        mine.close();
    }

    @Test
    @DisplayName("ends on the callback executor, and so do the actions that hang on it, when it waited")
    void onTheCallbackExecutor() throws Exception {
        Hold first = lock.acquire();
        CompletionStage<Hold> waiting = lock.acquireAsync();
        CompletionStage<String> thread = waiting.thenApply(hold -> {
            hold.close();
            return Thread.currentThread().getName();
        });

        first.close();

        assertThat(result(thread)).isEqualTo("manual-callbacks");
    }

    @Test
    @DisplayName(
            "is not re-entrant: it waits though its own thread holds the lock, and an asynchronous hold does not let its thread in")
    void notReentrant() throws Exception {
        Hold mine = lock.acquire();
        CompletionStage<Hold> other = lock.acquireAsync();
        world.time().settle();
        assertThat(other.toCompletableFuture().isDone()).isFalse();

        mine.close();
        Hold held = result(other);
        assertThat(lock.tryLock()).isFalse();
        CompletionStage<Hold> again = lock.acquireAsync();
        world.time().settle();
        assertThat(again.toCompletableFuture().isDone()).isFalse();

        long token = held.fencingToken();
        held.close();
        Hold next = result(again);
        assertThat(next.fencingToken()).isGreaterThan(token);
        next.close();
    }

    @Test
    @DisplayName("that is cancelled never holds, and leaves nothing at the store")
    @Tag("C5")
    void cancelled() throws Exception {
        Hold theirs = world.client("bob").lock("ledger").acquire();
        CompletableFuture<Hold> waiting = lock.acquireAsync().toCompletableFuture();
        assertThat(world.waitersOf("ledger")).isEqualTo(1);

        assertThat(waiting.cancel(false)).isTrue();

        assertThat(world.waitersOf("ledger")).isZero();
        theirs.close();
        world.awaitIdle();
    }

    @Test
    @DisplayName("whose grant is under way when it is cancelled gives it back")
    @Tag("C5")
    void cancelledTooLate() throws Exception {
        FaultyLink.HeldUp grant = link.holdUpNext(Command.Acquire.class);
        CompletableFuture<Hold> waiting = lock.acquireAsync().toCompletableFuture();
        grant.awaitCommand();

        waiting.cancel(false);
        grant.proceed();

        world.awaitIdle();
    }

    @Test
    @DisplayName("that its user has ended otherwise, as orTimeout() does, is withdrawn too")
    @Tag("C5")
    void endedByTheUser() throws Exception {
        Hold theirs = world.client("bob").lock("ledger").acquire();
        CompletableFuture<Hold> waiting = lock.acquireAsync().toCompletableFuture();
        assertThat(world.waitersOf("ledger")).isEqualTo(1);

        waiting.completeExceptionally(new java.util.concurrent.TimeoutException());

        assertThat(world.waitersOf("ledger")).isZero();
        theirs.close();
    }

    @Test
    @DisplayName("cancelled at the very moment of the grant ends as one or the other; nothing stays held")
    @Tag("C5")
    void cancelRacesWithTheGrant() throws Exception {
        Actor bob = world.actor("bob");
        int granted = 0;
        for (int i = 0; i < 300; i++) {
            Hold first = lock.acquire();
            CompletableFuture<Hold> waiting = lock.acquireAsync().toCompletableFuture();
            Actor.Doing<Boolean> cancelling = bob.start(() -> waiting.cancel(true));
            first.close();
            if (!cancelling.result()) {
                granted++;
                result(waiting).close();
            }
            Eventually.holds("the lock is free", () -> world.holderOf("ledger").isEmpty());
        }
        assertThat(granted).isBetween(0, 300);
    }

    @Test
    @DisplayName("waits no longer than its maximum, and not shorter")
    void maxWait() throws Exception {
        Hold first = lock.acquire();
        CompletableFuture<Hold> waiting = lock.acquireAsync(
                        AcquireOptions.defaults().withMaxWait(Duration.ofSeconds(5)))
                .toCompletableFuture();
        world.advance(Duration.ofSeconds(5).minusNanos(1));
        assertThat(waiting.isDone()).isFalse();

        world.advance(Duration.ofNanos(1));

        assertThatThrownBy(() -> result(waiting))
                .isInstanceOf(ExecutionException.class)
                .hasCauseInstanceOf(LockWaitTimeoutException.class)
                .hasMessageContaining("5 s");
        first.close();
        world.awaitIdle();
    }

    @Test
    @DisplayName("tells by its stage, and by nothing else, what acquire() would throw")
    void failuresInTheStage() throws Exception {
        Hold first = lock.acquire();
        assertThat(failureOf(
                        () -> holdfast.lock("ledger", LockOptions.barging()).acquireAsync()))
                .isInstanceOf(LockMismatchException.class);
        first.close();
        Hold theirs = world.client("bob").lock("ledger", LockOptions.barging()).acquire();
        assertThat(failureOf(lock::acquireAsync)).isInstanceOf(LockMismatchException.class);
        theirs.close();
        holdfast.close();
        assertThat(failureOf(lock::acquireAsync)).isInstanceOf(ClientClosedException.class);
    }

    private static Throwable failureOf(java.util.function.Supplier<CompletionStage<Hold>> acquiring) throws Exception {
        CompletionStage<Hold> stage = acquiring.get();
        try {
            result(stage.handle((hold, failure) -> {
                throw new CompletionException(failure);
            }));
        } catch (ExecutionException e) {
            return e.getCause();
        }
        throw new AssertionError("it did not fail");
    }

    @Test
    @DisplayName("can be made by the thousand at once; each is granted once, alone, with a greater token")
    void thousands() throws Exception {
        int requests = 5_000;
        AtomicInteger inside = new AtomicInteger();
        AtomicInteger overlaps = new AtomicInteger();
        AtomicLong lastToken = new AtomicLong();
        List<CompletableFuture<?>> all = new ArrayList<>();
        for (int i = 0; i < requests; i++) {
            all.add(lock.acquireAsync()
                    .thenAccept(hold -> {
                        boolean alone = inside.getAndIncrement() == 0;
                        boolean rises = lastToken.getAndSet(hold.fencingToken()) < hold.fencingToken();
                        if (!alone || !rises) {
                            overlaps.incrementAndGet();
                        }
                        inside.decrementAndGet();
                        hold.close();
                    })
                    .toCompletableFuture());
        }
        CompletableFuture<?> done = CompletableFuture.allOf(all.toArray(new CompletableFuture<?>[0]));
        // Tokens follow the clock of the store: more of them need more time.
        Eventually.holds("all are granted", () -> {
            world.advance(Duration.ofMillis(1));
            return done.isDone();
        });

        done.join();
        assertThat(overlaps).hasValue(0);
        world.awaitIdle();
    }

    @Test
    @DisplayName("can be made by the thousand on as many names")
    void thousandsOfNames() throws Exception {
        List<CompletableFuture<Hold>> all = new ArrayList<>();
        for (int i = 0; i < 5_000; i++) {
            all.add(holdfast.lock("name-" + i).acquireAsync().toCompletableFuture());
        }
        for (CompletableFuture<Hold> each : all) {
            assertThat(result(each).isHeld()).isTrue();
        }
        world.advance(Duration.ofMinutes(2));
        for (CompletableFuture<Hold> each : all) {
            result(each).close();
        }
        world.awaitIdle();
    }

    @Test
    @DisplayName("can be made by the thousand in vain: all learn of a mismatch")
    void thousandsInVain() throws Exception {
        Hold theirs = world.client("bob").lock("ledger", LockOptions.barging()).acquire();
        List<CompletionStage<Hold>> all = new ArrayList<>();
        FaultyLink.HeldUp first = link.holdUpNext(Command.Acquire.class);
        for (int i = 0; i < 5_000; i++) {
            all.add(lock.acquireAsync(AcquireOptions.defaults().withFixedLease(Duration.ofSeconds(1))));
        }
        first.proceed();
        for (CompletionStage<Hold> each : all) {
            assertThatThrownBy(() -> result(each)).hasCauseInstanceOf(LockMismatchException.class);
        }
        theirs.close();
    }
}
