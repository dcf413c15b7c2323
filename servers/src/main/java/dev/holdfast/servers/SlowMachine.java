package dev.holdfast.servers;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;

/**
 * Repeats a trial that must happen within a short time with a longer one, if the machine gave this process no processor
 * when it was due. A trial that fails though the machine was prompt fails for good.
 */
public final class SlowMachine {

    private static final int REPETITIONS = 2;
    private static final int FACTOR = 4;
    private static final long TICK_NANOS = 5_000_000;

    /** So much of the short time may be lost in all before a failure says nothing. */
    private static final int PARTS_LOST = 10;

    private SlowMachine() {}

    /** What is tried. */
    @FunctionalInterface
    public interface Trial {
        /**
         * Throws what is wrong, be it told by a check or by the client; all times of the trial are longer by that
         * factor.
         */
        void run(int factor) throws Exception;
    }

    /**
     * Tries it, and on a slow machine again with longer times.
     *
     * @param shortest the time within which something has to happen, by a factor of 1
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

    /** Measures by how much a thread that wakes again and again does so too late. */
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
                // A tick that is as long again is no delay.
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
