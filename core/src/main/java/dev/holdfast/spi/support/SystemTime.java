package dev.holdfast.spi.support;

import dev.holdfast.Environment;
import java.time.Duration;
import java.util.SplittableRandom;
import java.util.concurrent.Executor;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/** The system's time, with one timer thread, which starts with the first timer and ends when there are none. */
public final class SystemTime implements Environment, AutoCloseable {

    private final ScheduledThreadPoolExecutor timers;
    private final SplittableRandom random = new SplittableRandom(Randomness.nextLong());

    /**
     * Makes one.
     *
     * @param thread the name of the timer thread
     */
    public SystemTime(String thread) {
        timers = new ScheduledThreadPoolExecutor(1, task -> {
            Thread timer = new Thread(task, thread);
            timer.setDaemon(true);
            return timer;
        });
        timers.setRemoveOnCancelPolicy(true);
        timers.setExecuteExistingDelayedTasksAfterShutdownPolicy(false);
        timers.setRejectedExecutionHandler(new ThreadPoolExecutor.DiscardPolicy());
        timers.setKeepAliveTime(10, TimeUnit.SECONDS);
        timers.allowCoreThreadTimeOut(true);
    }

    @Override
    public long monotonicNanos() {
        return nanos();
    }

    static long nanos() {
        return System.nanoTime();
    }

    /** The processor time of this process; 0 if the system does not report it. */
    static long processorNanos() {
        return ProcessHandle.current()
                .info()
                .totalCpuDuration()
                .map(Duration::toNanos)
                .orElse(0L);
    }

    /** As the monotonic clock: only the client measures across a suspension of the machine. */
    @Override
    public long bootNanos() {
        return System.nanoTime();
    }

    @Override
    public long wallMillis() {
        return System.currentTimeMillis();
    }

    @Override
    public Timer schedule(long delayNanos, Runnable task) {
        ScheduledFuture<?> timer = timers.schedule(task, delayNanos, TimeUnit.NANOSECONDS);
        return () -> timer.cancel(false);
    }

    @Override
    public Executor callbacks() {
        return timers;
    }

    @Override
    public synchronized long randomLong() {
        return random.nextLong();
    }

    @Override
    public void close() {
        timers.shutdownNow();
    }
}
