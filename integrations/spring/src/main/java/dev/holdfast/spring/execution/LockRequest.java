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
 * The locks that some work needs.
 *
 * @param names at least one, without duplicates
 * @param work describes the work, for people
 */
public record LockRequest(Holdfast client, List<String> names, LockSettings settings, String work) {

    /** Acquires all locks for the calling thread. */
    HeldLocks acquire() throws InterruptedException {
        if (names.size() > 1) {
            return HeldLocks.of(multiLock().acquire(settings.acquire()), names);
        }
        return settings.mode() == LockMode.PERMITS
                ? HeldLocks.of(semaphore(names.get(0)).acquire(settings.permits(), settings.acquire()), names)
                : HeldLocks.of(lock(names.get(0)).acquire(settings.acquire()), names);
    }

    /**
     * Acquires all locks without an owning thread. Cancelling the future ends the wait and releases what was granted.
     */
    CompletableFuture<HeldLocks> acquireAsync() {
        if (names.size() > 1) {
            return cancellable(multiLock().acquireAsync(settings.acquire()), hold -> HeldLocks.of(hold, names));
        }
        return settings.mode() == LockMode.PERMITS
                ? cancellable(
                        semaphore(names.get(0)).acquireAsync(settings.permits(), settings.acquire()),
                        hold -> HeldLocks.of(hold, names))
                : cancellable(lock(names.get(0)).acquireAsync(settings.acquire()), hold -> HeldLocks.of(hold, names));
    }

    /**
     * Checks, without I/O, that the store supports locks of this kind.
     *
     * @throws IllegalArgumentException if it does not, or the settings contradict each other
     */
    public void check() {
        Lockable unused = lockable(names.get(0));
    }

    private MultiLock multiLock() {
        return client.lockAll(names.stream().map(this::lockable).toList());
    }

    private Lockable lockable(String name) {
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
        CompletableFuture<HeldLocks> locks = stage.thenApply(wrap).toCompletableFuture();
        CompletionStage<HeldLocks> ended = locks;
        ended.whenComplete((value, failure) -> {
            // If the stage can't be cancelled, the grant came first, and its locks must be released here.
            if (locks.isCancelled() && !stage.toCompletableFuture().cancel(false)) {
                stage.thenApply(wrap).thenCompose(HeldLocks::releaseAsync);
            }
        });
        return locks;
    }
}
