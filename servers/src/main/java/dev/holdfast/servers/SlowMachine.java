package dev.holdfast.servers;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;

/**
 * Repeats a trial with a short time limit, with a longer limit, if the machine did not give this process a processor in
 * time. A trial that fails on a prompt machine is not repeated.
 */
public final class SlowMachine {

    private static final int REPETITIONS = 2;
    private static final int FACTOR = 4;
    private static final long TICK_NANOS = 5_000_000;

    /** The total delay, as a part of the short limit, above which a failure proves nothing. */
    private static final int PARTS_LOST = 10;

    private SlowMachine() {}

    /** A trial with time limits. */
    @FunctionalInterface
    public interface Trial {
        /**
         * Runs the trial with all times multiplied by a factor; throws any failure of a check or of the client.
         */
        void run(int factor) throws Exception;
    }

    /**
     * Runs a trial, and on a slow machine again with longer times.
     *
     * @param shortest the time limit of the trial for a factor of 1
     */
    public static void copes(Duration shortest, Trial trial) throws Exception {
        int factor = 1;
        for (int left = REPETITIONS; ; left--) {
            try (Delays delays = new Delays()) {
                try {
                    trial.run(factor);
                    return;
                } catch (AssertionError | RuntimeException e) {
                    Duration time = shortest.multipliedBy(factor);
                    if (left == 0 || delays.inAll().multipliedBy(PARTS_LOST).compareTo(time) < 0) {
                        throw e;
                    }
                }
            }
            factor *= FACTOR;
        }
    }

    /** Measures how late a thread wakes that sleeps repeatedly. */
    private static final class Delays implements AutoCloseable {
        private final AtomicLong lost = new AtomicLong();
        private final Thread thread = new Thread(this::measure, "holdfast-delays");
        private volatile boolean isOver;

        Delays() {
            thread.setDaemon(true);
            thread.start();
        }

        private void measure() {
            long before = System.nanoTime();
            while (!isOver) {
                LockSupport.parkNanos(TICK_NANOS);
                long now = System.nanoTime();
                // A tick of up to twice its length is no delay.
                lost.addAndGet(Math.max(0, now - before - 2 * TICK_NANOS));
                before = now;
            }
        }

        Duration inAll() {
            return Duration.ofNanos(lost.get());
        }

        @Override
        public void close() {
            isOver = true;
        }
    }
}
