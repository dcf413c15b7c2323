package dev.holdfast.test;

import dev.holdfast.Environment;
import dev.holdfast.spi.CallerMode;
import dev.holdfast.spi.Command;
import dev.holdfast.spi.LockStore;
import dev.holdfast.spi.Reply;
import dev.holdfast.spi.Signal;
import dev.holdfast.spi.StoreException;
import dev.holdfast.spi.StoreException.Effect;
import dev.holdfast.spi.StoreException.Reason;
import dev.holdfast.spi.support.ForwardingStore;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;

/**
 * A connection to a store that fails on demand. Thread-safe.
 *
 * <p>A fault affects the commands that are sent while it lasts. Earlier commands get their replies, and lost replies
 * don't arrive later.
 */
final class FaultyLink extends ForwardingStore {

    /** What happens to commands. Signals arrive only without a fault. */
    enum Fault {
        /** No fault. */
        NONE,
        /** Commands fail at once, without effect. */
        DOWN,
        /** Commands have no effect and no reply. */
        SILENT,
        /** Commands take effect, and their replies are lost. */
        LOSES_ANSWERS
    }

    private final Environment environment;

    /** Commands without a reply, by number; they fail when the link is closed. */
    private final Map<Long, CompletableFuture<Reply>> unanswered = new ConcurrentHashMap<>();

    private final AtomicLong numbers = new AtomicLong();

    private volatile Fault fault = Fault.NONE;
    private volatile Duration delay = Duration.ZERO;
    private volatile boolean isClosed;

    FaultyLink(LockStore store, Environment environment) {
        super(store);
        this.environment = environment;
    }

    void inject(Fault next) {
        fault = next;
    }

    /** Delays replies and signals from now on. */
    void delayBy(Duration time) {
        delay = time;
    }

    /** Whether replies arrive at once, and none is outstanding. */
    boolean isHealthy() {
        return fault == Fault.NONE && delay.isZero() && unanswered.isEmpty();
    }

    @Override
    public CompletionStage<Reply> execute(Command command, CallerMode caller) {
        if (isClosed) {
            return CompletableFuture.failedFuture(closed(Effect.NONE));
        }
        return switch (fault) {
            case NONE -> delayed(store().execute(command, caller));
            case DOWN ->
                CompletableFuture.failedFuture(
                        new StoreException(Reason.UNAVAILABLE, Effect.NONE, "the test has stopped the store", null));
            case SILENT -> unanswered(numbers.incrementAndGet());
            case LOSES_ANSWERS -> {
                var unused = store().execute(command, caller);
                yield unanswered(numbers.incrementAndGet());
            }
        };
    }

    private CompletionStage<Reply> delayed(CompletionStage<Reply> answer) {
        long nanos = delay.toNanos();
        if (nanos == 0) {
            return answer;
        }
        long number = numbers.incrementAndGet();
        CompletableFuture<Reply> later = unanswered(number);
        environment.schedule(
                nanos,
                () -> answer.whenComplete((reply, failure) -> {
                    unanswered.remove(number);
                    if (failure == null) {
                        later.complete(reply);
                    } else {
                        later.completeExceptionally(failure);
                    }
                }));
        return later;
    }

    private CompletableFuture<Reply> unanswered(long number) {
        CompletableFuture<Reply> answer = new CompletableFuture<>();
        unanswered.put(number, answer);
        if (isClosed) { // checked again: close() may have missed this command
            answer.completeExceptionally(closed(Effect.UNKNOWN));
        }
        return answer;
    }

    @Override
    public Subscription subscribe(Consumer<Signal> listener) {
        return store().subscribe(signal -> {
            if (fault == Fault.NONE) {
                deliver(listener, signal);
            }
        });
    }

    private void deliver(Consumer<Signal> listener, Signal signal) {
        long nanos = delay.toNanos();
        if (nanos == 0) {
            listener.accept(signal);
        } else {
            environment.schedule(nanos, () -> listener.accept(signal));
        }
    }

    @Override
    public void close() {
        isClosed = true;
        super.close();
        unanswered.values().forEach(answer -> answer.completeExceptionally(closed(Effect.UNKNOWN)));
        unanswered.clear();
    }

    private static StoreException closed(Effect effect) {
        return new StoreException(Reason.CLOSED, effect, "the connection to the test's store is closed", null);
    }
}
