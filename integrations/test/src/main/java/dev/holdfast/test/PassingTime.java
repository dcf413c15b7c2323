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
 * Moves virtual time while a thread waits: from one timer to the next, on a thread of its own.
 *
 * <p>A thread that was just woken may still look as if it waited, on a busy machine for long. No time passes while it
 * has yet to take up what it was granted, but for a limit. Otherwise time may pass by a few timers more than it had to,
 * which is as if the thread had been slow to wake up.
 */
final class PassingTime {

    /** Between two looks at the thread; it has to wait at both. */
    private static final long LOOK_EVERY_NANOS = TimeUnit.MILLISECONDS.toNanos(1);

    private final Consumer<Duration> advance;
    private final BooleanSupplier isGrantUnderWay;
    private final Supplier<Duration> nextTimer;
    private final Duration most;
    private final Duration longestWaking;
    private volatile boolean isOver;
    private volatile @Nullable Throwable failure;
    private @Nullable Thread mover;

    /**
     * Lets no time pass yet.
     *
     * @param isGrantUnderWay whether the store has granted something that nobody has taken up yet
     * @param most how much time passes at most, until the thread is interrupted
     * @param longestWaking for how long in real time none passes while a grant is under way: the thread may wait for
     *     something else
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
        Thread thread = new Thread(() -> move(waiter), "passing-time");
        thread.setDaemon(true);
        mover = thread;
        thread.start();
    }

    private void move(Thread waiter) {
        try {
            Duration left = most;
            boolean hasWaited = false;
            long moved = System.nanoTime();
            while (!isOver) {
                boolean waits = isWaiting(waiter);
                boolean isWaking =
                        isGrantUnderWay.getAsBoolean() && System.nanoTime() - moved < longestWaking.toNanos();
                if (waits && hasWaited && !isWaking) {
                    Duration step = nextTimer.get();
                    left = left.minus(step);
                    if (left.isNegative()) {
                        failure = new AssertionError(
                                "The call still waits when " + DurationFormat.format(most) + " have passed.");
                        waiter.interrupt();
                        return;
                    }
                    advance.accept(step);
                    moved = System.nanoTime();
                }
                hasWaited = waits;
                LockSupport.parkNanos(this, LOOK_EVERY_NANOS);
            }
        } catch (Throwable t) {
            failure = t;
        }
    }

    private static boolean isWaiting(Thread thread) {
        Thread.State state = thread.getState();
        return state == Thread.State.WAITING || state == Thread.State.TIMED_WAITING;
    }

    /** Stops, and tells what went wrong. */
    Optional<AssertionError> end() {
        isOver = true;
        boolean wasInterrupted = false;
        Thread thread = mover;
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
                .map(t -> t instanceof AssertionError error ? error : new AssertionError("Time could not pass", t));
    }
}
