package dev.holdfast.engine.execution;

import dev.holdfast.Environment;
import dev.holdfast.spi.support.AdaptiveSpin;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;

/**
 * Lets a thread spin for a store's reply while replies arrive at once. Only one thread of a client spins at a time: if
 * many wait, the processors have better uses. Thread-safe.
 */
public final class SpinWait {

    private final Environment environment;

    /** Held by the thread that spins, and never waited for. Guards the adaptive state. */
    private final ReentrantLock turn = new ReentrantLock();

    private final AdaptiveSpin spin = new AdaptiveSpin();

    public SpinWait(Environment environment) {
        this.environment = environment;
    }

    /**
     * Spins for a condition, but not for long, and perhaps not at all. The caller checks the condition again, and
     * parks.
     *
     * @param longest the most nanoseconds that the caller wants to wait
     */
    @SuppressWarnings("ThreadPriorityCheck") // a hint: only speed depends on it
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
                    // The reply may have arrived by now, but other threads had the processor for too long.
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
