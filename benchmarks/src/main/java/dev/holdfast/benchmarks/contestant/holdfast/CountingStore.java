package dev.holdfast.benchmarks.contestant.holdfast;

import dev.holdfast.spi.CallerMode;
import dev.holdfast.spi.Command;
import dev.holdfast.spi.LockStore;
import dev.holdfast.spi.Reply;
import dev.holdfast.spi.support.ForwardingStore;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.LongAdder;

/** Counts the commands that reach a store, by their kind. Thread-safe. */
public final class CountingStore extends ForwardingStore {

    private final Map<Class<? extends Command>, LongAdder> counts = new ConcurrentHashMap<>();

    public CountingStore(LockStore store) {
        super(store);
    }

    public long count(Class<? extends Command> kind) {
        LongAdder count = counts.get(kind);
        return count == null ? 0 : count.sum();
    }

    public long total() {
        return counts.values().stream().mapToLong(LongAdder::sum).sum();
    }

    @Override
    public CompletionStage<Reply> execute(Command command, CallerMode caller) {
        count(command);
        return super.execute(command, caller);
    }

    @Override
    public CompletionStage<Reply> execute(Command command, CallerMode caller, Duration timeout) {
        count(command);
        return store().execute(command, caller, timeout);
    }

    private void count(Command command) {
        counts.computeIfAbsent(command.getClass(), unused -> new LongAdder()).increment();
    }
}
