package dev.holdfast.spring.execution;

import dev.holdfast.DistributedLock;
import dev.holdfast.DistributedSemaphore;
import dev.holdfast.Holdfast;
import dev.holdfast.Lockable;
import dev.holdfast.MultiLock;
import dev.holdfast.spring.LockMode;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Function;

/**
 * The locks that some work asks for.
 *
 * @param names at least one, each once
 * @param work what is to be done, for people
 */
public record LockRequest(Holdfast client, List<String> names, LockSettings settings, String work) {

    /** Acquires all locks for the calling thread. */
    HeldLocks acquire() throws InterruptedException {
        if (names.size() > 1) {
            return HeldLocks.of(together().acquire(settings.acquire()), names);
        }
        return settings.mode() == LockMode.PERMITS
                ? HeldLocks.of(semaphore(names.get(0)).acquire(settings.permits(), settings.acquire()), names)
                : HeldLocks.of(lock(names.get(0)).acquire(settings.acquire()), names);
    }

    /** Acquires all locks for no thread. Cancelling the future ends the wait, and what was granted is given back. */
    CompletableFuture<HeldLocks> acquireAsync() {
        if (names.size() > 1) {
            return cancellable(together().acquireAsync(settings.acquire()), hold -> HeldLocks.of(hold, names));
        }
        return settings.mode() == LockMode.PERMITS
                ? cancellable(
                        semaphore(names.get(0)).acquireAsync(settings.permits(), settings.acquire()),
                        hold -> HeldLocks.of(hold, names))
                : cancellable(lock(names.get(0)).acquireAsync(settings.acquire()), hold -> HeldLocks.of(hold, names));
    }

    /**
     * Makes sure that the store has locks of this kind, without I/O.
     *
     * @throws IllegalArgumentException if it has not, or the settings contradict each other
     */
    public void check() {
        Lockable unused = part(names.get(0));
    }

    private MultiLock together() {
        return client.lockAll(names.stream().map(this::part).toList());
    }

    private Lockable part(String name) {
        return settings.mode() == LockMode.PERMITS ? semaphore(name).permits(settings.permits()) : lock(name);
    }

    private DistributedSemaphore semaphore(String name) {
        return client.semaphore(name, settings.capacity(), settings.order());
    }

    private DistributedLock lock(String name) {
        return switch (settings.mode()) {
            case READ -> client.readWriteLock(name, settings.order()).readLock();
            case WRITE -> client.readWriteLock(name, settings.order()).writeLock();
            default -> client.lock(name, settings.order());
        };
    }

    private static <H> CompletableFuture<HeldLocks> cancellable(
            CompletionStage<H> stage, Function<? super H, HeldLocks> wrap) {
        CompletableFuture<HeldLocks> held = stage.thenApply(wrap).toCompletableFuture();
        CompletionStage<HeldLocks> ended = held;
        ended.whenComplete((locks, failure) -> {
            // A future that has ended can't be cancelled: the grant came first, and nobody else will give it back.
            if (held.isCancelled() && !stage.toCompletableFuture().cancel(false)) {
                stage.thenApply(wrap).thenCompose(HeldLocks::releaseAsync);
            }
        });
        return held;
    }
}
