package dev.holdfast.engine.session;

import dev.holdfast.admin.LockInfo;
import dev.holdfast.engine.client.ClientContext;
import dev.holdfast.engine.execution.BoundedWait;
import dev.holdfast.engine.time.TotalWait;
import dev.holdfast.engine.wire.ResourceInspection;
import dev.holdfast.spi.CallerMode;
import dev.holdfast.spi.ResourceName;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.TimeUnit;

/**
 * Asks the store once who holds a resource after a wait for it has timed out, so that the exception names the holder.
 * The caller waits for the answer no longer than a fraction of the second by which a timed wait may be late, and no
 * longer than it had waited. Waits that end at the same time share one question. Thread-safe.
 */
public final class HolderLookup {

    /** A third of {@link TotalWait#OVERTIME_NANOS}, and enough for a round trip between continents. */
    private static final long MAX_NANOS = TimeUnit.MILLISECONDS.toNanos(250);

    private final ClientContext context;

    /** The questions without an answer; each is removed when it ends. */
    private final ConcurrentMap<ResourceName, CompletableFuture<Optional<LockInfo>>> underWay =
            new ConcurrentHashMap<>();

    public HolderLookup(ClientContext context) {
        this.context = context;
    }

    /**
     * The exception for a wait that has timed out, with the holder if the store answers in time.
     *
     * @param hint what else is known; may be empty
     */
    public RuntimeException timedOut(
            Partition partition, ResourceName name, Duration waited, long mostNanos, String hint) {
        CompletableFuture<Optional<LockInfo>> answer = ask(partition, name);
        boolean isAnswered = BoundedWait.await(context.environment(), answer, limit(waited, mostNanos));
        return timedOut(partition, name, waited, isAnswered ? answer.join() : Optional.empty(), hint);
    }

    /** The same without blocking: completes with the exception, and in time. */
    public CompletableFuture<RuntimeException> timedOutAsync(
            Partition partition, ResourceName name, Duration waited, long mostNanos) {
        CompletableFuture<Optional<LockInfo>> bounded = new CompletableFuture<>();
        var alarm = context.environment().schedule(limit(waited, mostNanos), () -> bounded.complete(Optional.empty()));
        var unused = ask(partition, name).thenAccept(found -> {
            alarm.cancel();
            bounded.complete(found);
        });
        return bounded.thenApply(found -> timedOut(partition, name, waited, found, ""));
    }

    private static long limit(Duration waited, long mostNanos) {
        return Math.min(Math.min(MAX_NANOS, mostNanos), waited.toNanos());
    }

    private RuntimeException timedOut(
            Partition partition, ResourceName name, Duration waited, Optional<LockInfo> found, String hint) {
        Session own = partition.keeper.current();
        return context.failures().timedOut(name.value(), waited, found, own == null ? "" : own.id.value(), hint);
    }

    /** Completes with the store's record; empty if there is none or the store does not answer. Never fails. */
    private CompletableFuture<Optional<LockInfo>> ask(Partition partition, ResourceName name) {
        if (context.isClosing() || partition.wire.silentFor() > 0) {
            return CompletableFuture.completedFuture(Optional.empty());
        }
        CompletableFuture<Optional<LockInfo>> answer = new CompletableFuture<>();
        CompletableFuture<Optional<LockInfo>> other = underWay.putIfAbsent(name, answer);
        if (other != null) {
            return other;
        }
        // Not on this thread: a store that blocks would break its bound.
        var unused = ResourceInspection.ask(partition.wire, name, CallerMode.ASYNC)
                .thenApply(found -> found.map(context.views()::of))
                .exceptionally(failure -> Optional.empty())
                .thenAccept(found -> {
                    underWay.remove(name, answer);
                    answer.complete(found);
                });
        return answer;
    }
}
