package dev.holdfast.benchmarks.contestant.holdfast;

import dev.holdfast.spi.CallerMode;
import dev.holdfast.spi.Command;
import dev.holdfast.spi.LockStore;
import dev.holdfast.spi.Reply;
import dev.holdfast.spi.ResourceName;
import dev.holdfast.spi.Signal;
import dev.holdfast.spi.StoreTraits;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Consumer;

/** Counts the commands that reach a store, by their kind. Thread-safe. */
public final class CountingStore implements LockStore {

    private final LockStore store;
    private final Map<Class<? extends Command>, LongAdder> counts = new ConcurrentHashMap<>();

    public CountingStore(LockStore store) {
        this.store = store;
    }

    public long count(Class<? extends Command> kind) {
        LongAdder count = counts.get(kind);
        return count == null ? 0 : count.sum();
    }

    public long total() {
        return counts.values().stream().mapToLong(LongAdder::sum).sum();
    }

    @Override
    public StoreTraits traits() {
        return store.traits();
    }

    @Override
    public int partitions() {
        return store.partitions();
    }

    @Override
    public int partitionOf(ResourceName name) {
        return store.partitionOf(name);
    }

    @Override
    public CompletionStage<Reply> execute(Command command, CallerMode caller) {
        count(command);
        return store.execute(command, caller);
    }

    @Override
    public CompletionStage<Reply> execute(Command command, CallerMode caller, Duration timeout) {
        count(command);
        return store.execute(command, caller, timeout);
    }

    private void count(Command command) {
        counts.computeIfAbsent(command.getClass(), unused -> new LongAdder()).increment();
    }

    @Override
    public Subscription subscribe(Consumer<Signal> listener) {
        return store.subscribe(listener);
    }

    @Override
    public void close() {
        store.close();
    }
}
