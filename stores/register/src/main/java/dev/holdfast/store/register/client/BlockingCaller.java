package dev.holdfast.store.register.client;

import dev.holdfast.store.register.ConditionalWrite;
import dev.holdfast.store.register.RegisterAdapter;
import dev.holdfast.store.register.WriteResult;
import java.time.Duration;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/**
 * The thread that has submitted a call and may block for the writes of its round, as long as it runs the round itself.
 * Writes on other threads never block.
 */
final class BlockingCaller {

    private final RegisterAdapter adapter;

    /** Null if no thread may block. */
    private volatile @Nullable Thread caller;

    /** Until when it may block. */
    private long until;

    BlockingCaller(RegisterAdapter adapter) {
        this.adapter = adapter;
    }

    /** Lets the present thread block for a time, unless that is zero. */
    void begin(long now, Duration mayBlockFor) {
        until = now + mayBlockFor.toNanos();
        caller = mayBlockFor.isZero() ? null : Thread.currentThread();
    }

    /** What is left of the round runs on threads of the store, perhaps already. */
    void end() {
        caller = null;
    }

    CompletionStage<WriteResult> write(ConditionalWrite write, long now) {
        long time = until - now;
        boolean mayBlock = time > 0 && Thread.currentThread().equals(caller);
        return mayBlock ? adapter.write(write, Duration.ofNanos(time)) : adapter.write(write);
    }
}
