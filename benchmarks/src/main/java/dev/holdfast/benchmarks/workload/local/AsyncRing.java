package dev.holdfast.benchmarks.workload.local;

import dev.holdfast.DistributedLock;
import dev.holdfast.Hold;
import dev.holdfast.Holdfast;
import dev.holdfast.benchmarks.contestant.holdfast.CountingStore;
import dev.holdfast.benchmarks.contestant.holdfast.Holdfasts;
import dev.holdfast.benchmarks.harness.Guarded;
import dev.holdfast.benchmarks.harness.Measurements;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.UnaryOperator;

/** Stages that pass one lock around: each that gets it asks again, then releases it. No thread waits. */
final class AsyncRing implements AutoCloseable {

    private static final String LOCK = "ring";

    private final Guarded guarded = Guarded.inMemory();
    private final List<CountingStore> stores = new ArrayList<>();
    private final List<Holdfast> clients = new ArrayList<>();
    private final AtomicLong handOvers = new AtomicLong();
    private final AtomicLong waiting = new AtomicLong();
    private final CompletableFuture<Void> standstill = new CompletableFuture<>();
    private volatile boolean isOver;

    /** Connects clients to one file. */
    AsyncRing(Holdfasts which, Path place, int clients, UnaryOperator<Holdfast.Builder> settings) {
        for (int i = 0; i < clients; i++) {
            CountingStore store = new CountingStore(which.open(place));
            stores.add(store);
            this.clients.add(settings.apply(Holdfast.builder(store)).build());
        }
    }

    /** Starts stages, the same number at each client. */
    void start(int stages) {
        // Counts this method too, so that the first stages do not end the ring before the last one starts.
        waiting.incrementAndGet();
        for (int i = 0; i < stages; i++) {
            await(clients.get(i % clients.size()).lock(LOCK));
        }
        leave();
    }

    private void await(DistributedLock lock) {
        waiting.incrementAndGet();
        var unused = lock.acquireAsync().whenComplete((hold, failure) -> {
            if (failure == null) {
                pass(lock, hold);
            } else {
                standstill.completeExceptionally(failure);
            }
        });
    }

    private void pass(DistributedLock lock, Hold hold) {
        guarded.enter(hold.fencingToken());
        guarded.leave();
        handOvers.incrementAndGet();
        if (!isOver) {
            await(lock);
        }
        var unused = hold.releaseAsync().whenComplete((outcome, failure) -> {
            if (failure != null) {
                standstill.completeExceptionally(failure);
            }
        });
        leave();
    }

    private void leave() {
        if (waiting.decrementAndGet() == 0) {
            standstill.complete(null);
        }
    }

    long handOvers() {
        return handOvers.get();
    }

    long commands() {
        return stores.stream().mapToLong(CountingStore::total).sum();
    }

    /** Waits until all stages have had the lock, and checks them. */
    void stop(Measurements measurements) {
        isOver = true;
        standstill.orTimeout(1, TimeUnit.MINUTES).join();
        guarded.check(handOvers(), measurements);
    }

    @Override
    public void close() {
        isOver = true;
        clients.forEach(Holdfast::close);
        stores.forEach(CountingStore::close);
    }
}
