package dev.holdfast.engine.execution;

import dev.holdfast.Environment;
import dev.holdfast.spi.support.AdaptiveSpin;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;

/**
 * Keeps a thread awake that waits for the answer of a store, as long as answers come at once. Only one thread of a
 * client does so at a time: where many wait, the processors have something better to do. Thread-safe.
 */
public final class SpinWait {

    private final Environment environment;

    /** Held by the thread that is awake, and never waited for. Guards what was learned. */
    private final ReentrantLock turn = new ReentrantLock();

    private final AdaptiveSpin spin = new AdaptiveSpin();

    public SpinWait(Environment environment) {
        this.environment = environment;
    }

    /**
     * Waits for something, but not for long, and perhaps not at all: whoever has to know looks again, and then sleeps.
     *
     * @param longest nanoseconds after which the caller does not want to wait any more
     */
    @SuppressWarnings("ThreadPriorityCheck") // a hint: nothing but speed depends on it
    public void until(BooleanSupplier isOver, long longest) {
        Trampoline.flush();
        long worthwhile = environment.maxSpinNanos();
        long most = Math.min(worthwhile, longest);
        if (most <= 0 || isOver.getAsBoolean() || !turn.tryLock()) {
            return;
        }
        try {
            long begun = environment.monotonicNanos();
            if (!spin.isWorthwhile(begun)) {
                return;
            }
            long spent;
            do {
                Thread.yield();
                boolean hasCome = isOver.getAsBoolean();
                long now = environment.monotonicNanos();
                spent = now - begun;
                if (spent >= worthwhile) {
                    // It may have come by now, but others have had the processor for longer than that.
                    spin.wasInVain(now, spent);
                } else if (hasCome) {
                    spin.paidOff();
                }
                if (hasCome) {
                    return;
                }
            } while (spent < most);
        } finally {
            turn.unlock();
        }
    }
}
