package dev.holdfast.test;

import dev.holdfast.spi.support.DurationFormat;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Advances virtual time while a thread waits: from one timer to the next, on a separate thread.
 *
 * <p>A thread that was just woken may still be in a waiting state, for long on a busy machine. So no time passes while
 * the program has yet to receive a grant, up to a limit. In other cases time may pass by a few timers too many, as if
 * the thread had been slow to wake up.
 */
final class PassingTime {

    /** Between two polls of the thread's state; it must be waiting at both. */
    private static final long POLL_EVERY_NANOS = TimeUnit.MILLISECONDS.toNanos(1);

    private final Consumer<Duration> advance;
    private final BooleanSupplier isGrantUnderWay;
    private final Supplier<Duration> nextTimer;
    private final Duration most;
    private final Duration longestWaking;
    private volatile boolean isOver;
    private volatile @Nullable Throwable failure;
    private @Nullable Thread clock; // set once by begin

    /**
     * Lets no time pass yet.
     *
     * @param isGrantUnderWay whether the store has granted something that the program has not received yet
     * @param most the virtual time after which the thread is interrupted
     * @param longestWaking the real time for which none passes while a grant is under way; after that, the thread is
     *     assumed to wait for something else
     */
    PassingTime(
            Consumer<Duration> advance,
            Supplier<Duration> nextTimer,
            BooleanSupplier isGrantUnderWay,
            Duration most,
            Duration longestWaking) {
        this.advance = advance;
        this.isGrantUnderWay = isGrantUnderWay;
        this.nextTimer = nextTimer;
        this.most = most;
        this.longestWaking = longestWaking;
    }

    void begin(Thread waiter) {
        Thread thread = new Thread(() -> passTime(waiter), "passing-time");
        thread.setDaemon(true);
        clock = thread;
        thread.start();
    }

    private void passTime(Thread waiter) {
        try {
            Duration left = most;
            boolean hasWaited = false;
            long advancedAt = System.nanoTime();
            while (!isOver) {
                boolean waits = isWaiting(waiter);
                boolean isWaking =
                        isGrantUnderWay.getAsBoolean() && System.nanoTime() - advancedAt < longestWaking.toNanos();
                if (waits && hasWaited && !isWaking) {
                    Duration step = nextTimer.get();
                    left = left.minus(step);
                    if (left.isNegative()) {
                        failure = new AssertionError(
                                "The call is still waiting after " + DurationFormat.format(most) + ".");
                        waiter.interrupt();
                        return;
                    }
                    advance.accept(step);
                    advancedAt = System.nanoTime();
                }
                hasWaited = waits;
                LockSupport.parkNanos(this, POLL_EVERY_NANOS);
            }
        } catch (Throwable t) {
            failure = t;
        }
    }

    private static boolean isWaiting(Thread thread) {
        Thread.State state = thread.getState();
        return state == Thread.State.WAITING || state == Thread.State.TIMED_WAITING;
    }

    /** Stops, and returns the failure if there was one. */
    Optional<AssertionError> end() {
        isOver = true;
        boolean wasInterrupted = false;
        Thread thread = clock;
        while (thread != null && thread.isAlive()) {
            try {
                thread.join();
            } catch (InterruptedException e) {
                wasInterrupted = true;
            }
        }
        if (wasInterrupted) {
            Thread.currentThread().interrupt();
        }
        return Optional.ofNullable(failure)
                .map(t -> t instanceof AssertionError error
                        ? error
                        : new AssertionError("Time could not be advanced", t));
    }
}
